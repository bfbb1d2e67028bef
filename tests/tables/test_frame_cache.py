from tablebase.tables.table import FrameCache


def test_recently_used_frames_are_kept_within_the_budget() -> None:
    cache = FrameCache(max_bytes=30)
    decoded = []

    def decode(frame: int) -> bytes:
        decoded.append(frame)
        return bytes([frame]) * 10

    for frame in (1, 2, 3, 1, 4):  # 2 is the one not used for longest when 4 comes
        assert cache.get(0, frame, decode) == bytes([frame]) * 10
        assert cache.used_bytes <= 30
    assert decoded == [1, 2, 3, 4]
    cache.get(0, 1, decode)
    assert decoded == [1, 2, 3, 4]
    cache.get(0, 2, decode)
    assert decoded == [1, 2, 3, 4, 2]


def test_tables_share_the_budget_and_nothing_else() -> None:
    cache = FrameCache(max_bytes=30)
    one, other = cache.new_owner(), cache.new_owner()
    assert cache.get(one, 7, lambda frame: b"1" * 10) != cache.get(other, 7, lambda frame: b"2" * 10)
    cache.drop(one)
    assert cache.used_bytes == 10
    assert cache.get(other, 7, lambda frame: b"") == b"2" * 10
    assert cache.get(one, 7, lambda frame: b"3" * 10) == b"3" * 10


def test_a_frame_larger_than_the_budget_is_not_kept() -> None:
    cache = FrameCache(max_bytes=5)
    assert cache.get(0, 0, lambda frame: b"123456") == b"123456"
    assert cache.used_bytes == 0
