"""Who can open a link that a manager hands out."""

import pytest

from config.templatetags.addresses import ANYBODY, HERE, NETWORK, reach


@pytest.mark.parametrize(
    ("host", "who"),
    [
        ("localhost:8000", HERE), ("127.0.0.1:8000", HERE), ("127.8.0.1", HERE),
        ("[::1]:8000", HERE), ("0.0.0.0", HERE),
        ("winnow.localhost", HERE), ("localhost.", HERE),
        ("192.168.1.4:8000", NETWORK), ("10.0.0.7", NETWORK), ("172.20.1.1", NETWORK), ("169.254.3.4", NETWORK),
        ("[fe80::1]", NETWORK), ("[fd00::1]", NETWORK), ("100.64.0.9", NETWORK), ("laptop.local", NETWORK),
        ("labserver:8000", NETWORK), ("winnow.example.org", ANYBODY), ("8.8.8.8", ANYBODY),
    ],
)  # fmt: skip
def test_a_link_says_who_cannot_open_it(host, who):
    assert reach(f"http://{host}/join/abc/") == who
