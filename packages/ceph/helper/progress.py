"""Lets a long call say that it goes on. The process that called it ends the helper if a call is silent for too long."""

import threading
import time
from contextlib import contextmanager

SECONDS_BETWEEN = 1

calls = threading.local()


def begin(tell):
    """Sets the function that tells the caller of this thread's call that the call goes on."""
    calls.tell = tell


def goes_on():
    """Returns a function to call with whatever arguments after each part of the work, also from other threads."""
    tell = calls.tell
    told = time.monotonic()

    def note(*_):
        nonlocal told
        if time.monotonic() - told >= SECONDS_BETWEEN:
            told = time.monotonic()
            tell()

    return note


@contextmanager
def going_on():
    """Tells it for as long as the block runs. Only for calls of libraries that report nothing and bound each request."""
    ended = threading.Event()
    tell = calls.tell

    def repeat():
        while not ended.wait(SECONDS_BETWEEN):
            tell()

    teller = threading.Thread(target=repeat, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
