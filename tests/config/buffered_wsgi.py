"""An application that says how many bytes of a body it read, and gives as many as its query asks for, in pieces."""

PIECE = 100_000


def application(environ, start_response):
    size = 0
    if environ["PATH_INFO"] != "/unread":
        while piece := environ["wsgi.input"].read(8192):
            size += len(piece)
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield f"{size}\n".encode()
    for _ in range(int(environ["QUERY_STRING"] or 0) // PIECE):
        yield b"x" * PIECE
