"""What is stored as bytes comes back; anything else is refused with a reason."""

import pytest

from bestcut._stored import Form

PLAIN = Form(b"bestcut.test....", 2, ValueError, least=1)
COUNTED = Form(b"bestcut.test....", 2, ValueError, counted=True)


def any_size(body, *count):
    return ""


def test_a_body_comes_back_with_its_count():
    assert PLAIN.body(PLAIN.packed(b"abc"), any_size) == b"abc"
    seen = []

    def noted(*arguments):
        seen.append(arguments)
        return ""

    assert COUNTED.body(memoryview(COUNTED.packed(b"abc", 7)), noted) == b"abc"
    assert seen == [(b"abc", 7)]


def test_the_header_is_little_endian_and_holds_the_checksum_of_the_body():
    crc = bytes.fromhex("c2412435")  # 0x352441c2, as zlib and PNG have it for "abc"
    assert PLAIN.packed(b"abc") == b"bestcut.test....\x02\0" + crc + b"abc"
    with_count = b"bestcut.test....\x02\0\x07\0\0\0" + crc + b"abc"
    assert COUNTED.packed(b"abc", 7) == with_count


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:22], "it has 22 bytes, which is less than a header"),
        (lambda data: b"c" + data[1:], "it begins with something else"),
        (
            lambda data: data[:16] + b"\3" + data[17:],
            "it has version 3, but only 2 can be read",
        ),
        (lambda data: data + b"d", "it is too long"),
        (lambda data: data[:-1] + b"d", "its checksum is wrong"),
    ],
)
def test_what_is_wrong_is_named(change, reason):
    def wrong_size(body):
        return "it is too long" if len(body) > 3 else ""

    with pytest.raises(ValueError, match=f"^{reason}$"):
        PLAIN.body(change(PLAIN.packed(b"abc")), wrong_size)


def test_what_are_no_bytes_is_refused():
    with pytest.raises(TypeError, match="`data` must be bytes"):
        PLAIN.body("abc", any_size)
