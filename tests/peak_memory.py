"""The memory that a process took at most. Imports nothing else, since whatever it imported would be counted."""


def peak_memory() -> int:
    """Bytes that this process held at most. (getrusage would count the parent's memory before exec too.)"""
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(status.read().split("VmHWM:")[1].split()[0]) * 1024
