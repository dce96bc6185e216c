"""The common base of a server's objects."""

from html import escape

from winnow_client.transport import Transport


class Handle:
    """Equal to another handle of the same object; may be pickled, with its token."""

    id: int
    name: str

    def __init__(self, transport: Transport, id: int, name: str):
        self._transport = transport
        self.id, self.name = id, name

    @property
    def url(self) -> str:
        """Return the address of its page."""
        return f"{self._transport.url}/{type(self).__name__.lower().replace('study', 'studie')}s/{self.id}/"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}: {self.name}>"

    def _repr_html_(self) -> str:
        return f'{type(self).__name__} <a href="{escape(self.url)}">{escape(self.name)}</a>'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[type, str, int]:
        return type(self), self._transport.url, self.id
