"""Static files, collected at the start under names with a hash of their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class Storage(CompressedManifestStaticFilesStorage):
    """Pages are shown even if they use a file added since the start, which is then missing."""

    def stored_name(self, name: str) -> str:
        try:
            return super().stored_name(name)
        except ValueError:  # neither collected nor in the manifest
            return self.clean_name(name)
