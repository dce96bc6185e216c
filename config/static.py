"""Static files, collected at the start under names that tell their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class Storage(CompressedManifestStaticFilesStorage):
    """A file that came since the start is missing from the page, which is shown all the same."""

    def stored_name(self, name: str) -> str:
        try:
            return super().stored_name(name)
        except ValueError:  # neither collected nor in the list of what was
            return self.clean_name(name)
