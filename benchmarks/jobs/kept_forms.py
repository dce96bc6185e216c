"""Forms whose files are kept for a day: an order can be repeated, or a page of columns shown, without sending them
again."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from django import forms
from django.contrib.auth.models import User

from benchmarks.jobs import kept_uploads
from benchmarks.jobs.forms import FilesField
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.jobs.orders import OrderForm


class KeptFilesForm(OrderForm):
    """`FILES`: its file fields, of which the first is required. Values such as `images_kept` are ids of earlier uploads
    to use again, `images_new` of those uploaded for this form."""

    FILES: ClassVar[tuple[str, ...]] = ("files",)
    files = FilesField(required=False, allow_empty_file=True)  # type: ignore[assignment]  # the class removes it

    def __init__(self, *args, kept: Sequence[Upload] = (), **more):
        """`kept`: the user's uploads."""
        super().__init__(*args, **more)
        self.kept = kept
        self.retained: set[str] = set()  # ids of uploads sent with this form, which has errors

    def ids(self, name: str, which: str) -> set[str]:
        if self.is_bound:
            data = self.data  # the data sent, not a field of that name
            return {*(data.getlist(f"{name}_{which}") if hasattr(data, "getlist") else ())}
        return {*self.initial.get(f"{name}_{which}", ())}

    @property
    def earlier_uploads(self) -> dict[str, list[tuple[Upload, bool]]]:
        """Return by field each earlier upload, and whether to use it again."""
        chosen = self.retained.union(*(self.ids(name, which) for name in self.FILES for which in ("kept", "new")))
        return {name: [(one, one.id in chosen) for one in self.kept if one.field == name] for name in self.FILES}

    def takes_several(self, name: str, files: Sequence) -> bool:
        """Return whether the field takes more than one file, given these."""
        return True

    def clean(self) -> None:
        for name in self.FILES:
            self.add_kept(name)
        first = self.FILES[0]
        if not self.cleaned_data.get(first) and first not in self.errors:
            self.add_error(first, forms.Field.default_error_messages["required"])

    def add_kept(self, name: str) -> None:
        """Add the earlier uploads to the new files. New files replace those of the same name, or all if the field takes
        only one file."""
        uploads = {upload.id: upload for upload in self.kept if upload.complete}
        kept, fresh = self.ids(name, "kept"), self.ids(name, "new")
        if name not in self.cleaned_data:
            return
        new = [*self.cleaned_data[name], *(upload for id, upload in uploads.items() if id in fresh)]
        chosen = [upload for id, upload in uploads.items() if id in kept - fresh]
        several = self.takes_several(name, [*chosen, *new])
        if not {*fresh, *(kept if several or not new else ())} <= uploads.keys():
            self.add_error(name, "A file that you chose to use again is no longer there. Upload it again.")
            return
        names = {file.name for file in new}
        stay = [upload for upload in chosen if upload.name not in names and (several or not new)]
        twice = [file for file, count in Counter(file.name for file in (*stay, *new)).items() if count > 1]
        if twice:
            self.add_error(name, f"Two uploads are called “{twice[0]}”. Choose one of them.")
        else:
            self.cleaned_data[name] = [*stay, *new]

    def retain(self, user: User) -> None:
        """Keep the files of a form with errors, except fields with errors of their own: browsers forget them."""
        new: list[Upload] = []
        with suppress(OSError):  # the disk is full: the user sends them again
            for name in self.FILES:
                for one in self.cleaned_data.get(name, ()) if name not in self.errors else ():
                    _kept(one, name, user, new)
        kept_uploads.drop_replaced(user, new)
        self.kept, self.retained = kept_uploads.of_user(user), {upload.id for upload in new}

    def keep(self, user: User, folder: Path, replaces: bool = True) -> tuple[dict[str, Path], dict[str, list[str]]]:
        """Keep the files of the valid form and link them in `folder`: by field, the file or folder, and the uploads'
        ids. `replaces`: they replace the user's earlier uploads with the same names. Raises CannotKeep."""
        new: list[Upload] = []
        try:
            kept = {name: [_kept(one, name, user, new) for one in self.cleaned_data[name]] for name in self.FILES}
            paths = {name: kept_uploads.link(of, folder / name) for name, of in kept.items() if of}
        except OSError:
            kept_uploads.drop(upload.id for upload in new)
            raise
        if replaces:
            kept_uploads.drop_replaced(user, [one for chosen in kept.values() for one in chosen])
        return paths, {name: [one.id for one in of] for name, of in kept.items()}


def _kept(one, name: str, user: User, new: list[Upload]) -> Upload:
    """Return the upload, or the form's file as an upload, which is then also in `new`."""
    if not isinstance(one, Upload):
        one = kept_uploads.keep(user, name, one)
        new.append(one)
    return one
