"""A TCP proxy on 127.0.0.1 whose connections can be reset, cut short and delayed."""

import asyncio
import contextlib
import socket
import struct
import threading
from random import Random

RESET, CUT, DELAY = "reset", "cut", "delay"
SHARE = 0.4  # share of the traffic affected by trouble
RST = struct.pack("ii", 1, 0)  # SO_LINGER: closing throws away what was not sent, and says so


class Proxy:
    """Passes on to `target`, a port of this machine, from `port`. `trouble`: one of the words above, or none."""

    def __init__(self, target: int, seed: int):
        self.target, self.rng, self.trouble = target, Random(seed), ""
        self.open: set[asyncio.StreamWriter] = set()
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def break_all(self) -> None:
        """Reset every connection that is open."""
        self.loop.call_soon_threadsafe(lambda: [_reset(writer) for writer in list(self.open)])

    def close(self) -> None:
        self.break_all()
        self.loop.call_soon_threadsafe(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, onward = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return _reset(writer)
        both = {writer, onward}
        self.open |= both
        try:
            await asyncio.gather(self._pass(reader, onward, False), self._pass(there, writer, True))
        except OSError:
            for one in both:
                _reset(one)
        finally:
            self.open -= both
            for one in both:
                one.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answers: bool) -> None:
        """Pass on bytes in one direction, to their end. A reset request was not sent, a reset answer not received."""
        while data := await reader.read(65536):
            hit = self.trouble and self.rng.random() < SHARE
            if hit and self.trouble == DELAY:
                await asyncio.sleep(self.rng.uniform(0.2, 2))
            elif hit and self.trouble == RESET:
                raise ConnectionResetError
            elif hit and self.trouble == CUT and answers:
                writer.write(data[: self.rng.randrange(len(data))])
                await writer.drain()
                await asyncio.sleep(0.01)
                raise ConnectionResetError
            writer.write(data)
            await writer.drain()
        writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST)
    writer.transport.abort()
