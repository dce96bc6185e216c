"""Tell managers who can open an address that they hand out."""

import ipaddress
from urllib.parse import urlsplit

from django import template

register = template.Library()

HERE, NETWORK, ANYBODY = "here", "network", ""
LOCAL_ENDINGS = (".local", ".lan", ".internal", ".home.arpa")


def reach(address: str) -> str:
    """Return who can open this URL: only this computer (HERE), only its network (NETWORK), or ANYBODY."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith((".localhost", ".localdomain")):
        return HERE
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return NETWORK if "." not in host or host.endswith(LOCAL_ENDINGS) else ANYBODY
    if number.is_loopback or number.is_unspecified:
        return HERE
    return ANYBODY if number.is_global else NETWORK


@register.inclusion_tag("components/_reach.html")
def address_reach(address: str) -> dict:
    """Warn below a link if others cannot open it; nothing below one that anybody can open."""
    return {"reach": reach(address), "host": urlsplit(address).hostname}
