"""Static files, collected at startup under names with a hash of their content."""

from collections.abc import Iterator
from pathlib import PurePath

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = r"""(?P<matched>(?P<how>from|import)(?P<gap> ?)"(?P<url>\.[\w./-]+)")""", '%(how)s%(gap)s"%(url)s"'
MEDIA_TYPES = {".css": "text/css", ".js": "application/javascript"}


def minified(name: str, content: bytes) -> bytes:
    """Return a script or style without comments, spaces and long local names; its name shows which."""
    import minify  # loads a library of 7 MB, which only the collecting process needs

    return minify.string(MEDIA_TYPES[PurePath(name).suffix], content.decode()).encode()


class Storage(CompressedManifestStaticFilesStorage):
    """Pages work even if they use a file added since the start, which is then missing.

    Our scripts and styles are minified. Our scripts also import each other under hashed names, so that browsers cache
    them and never mix two versions. Other packages' scripts are not changed: some import files they do not include.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", (IMPORTS,)))

    def post_process(self, paths: dict, **options) -> Iterator[tuple[str, str | None, bool]]:
        """Minify our collected files, then name and compress all files."""
        for name in paths:
            if name.startswith(("css/", "js/")):
                with self.open(name) as file:
                    content = minified(name, file.read())
                self.delete(name)
                self.save(name, ContentFile(content))
        yield from super().post_process({name: (self, name) for name in paths}, **options)

    def stored_name(self, name: str) -> str:
        try:
            return super().stored_name(name)
        except ValueError:  # neither collected nor in the manifest
            return self.clean_name(name)
