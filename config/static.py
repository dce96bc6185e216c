"""Static files, collected at the start under names with a hash of their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORTS = r"""(?P<matched>(?P<how>from|import) "(?P<url>\.[\w./-]+)")""", '%(how)s "%(url)s"'


class Storage(CompressedManifestStaticFilesStorage):
    """Pages are shown even if they use a file added since the start, which is then missing.

    Our scripts import each other under hashed names too, so that browsers keep them and never mix two versions. Those
    of other packages are left alone: some import what they do not bring along.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", (IMPORTS,)))

    def stored_name(self, name: str) -> str:
        try:
            return super().stored_name(name)
        except ValueError:  # neither collected nor in the manifest
            return self.clean_name(name)
