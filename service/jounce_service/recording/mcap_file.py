"""Writes MCAP files in chunks, with little work per message.

The writer of the package ``mcap`` takes about four times as long per message, and holds the interpreter lock, which
the sessions need, all that time. Records that are written once per chunk or per file come from the package. The
layout is that of the MCAP specification, section "Records" (mcap.dev/spec).
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, BinaryIO, Final

_MAGIC: Final = b"\x89MCAP0\r\n"
#: Opcode, length, channel, sequence, log time, publish time.
_MESSAGE: Final = struct.Struct("<BQHIQQ")
_MESSAGE_OPCODE: Final = 0x05
#: Opcode, length, channel, bytes of the array that follows.
_INDEX: Final = struct.Struct("<BQHI")
_INDEX_OPCODE: Final = 0x07
#: Level of zstd. The default level is four times as slow, which would take time from sessions on a busy machine.
_LEVEL: Final = 1
#: Size of a record's opcode and length [bytes], which its length does not count.
_PREFIX: Final = 9


class McapFile:
    """Writes the messages of some channels. ``end_chunk`` makes them readable; ``finish`` adds the index."""

    def __init__(self, file: BinaryIO, channels: list[tuple[str, str, bytes]]) -> None:
        """``channels`` are (topic, schema name, serialized protobuf FileDescriptorSet), numbered from 1."""
        from mcap.records import Channel, Header, Schema

        self._file = file
        self._schemas = [Schema(data=s, encoding="protobuf", id=i, name=n) for i, (_, n, s) in enumerate(channels, 1)]
        self._channels = [
            Channel(id=i, topic=t, message_encoding="protobuf", metadata={}, schema_id=i)
            for i, (t, _, _) in enumerate(channels, 1)
        ]
        # Schemas and channels go into the first chunk, where the CRC covers them.
        self._parts = [_bytes(*self._schemas, *self._channels)]
        #: Size of the unfinished chunk [bytes].
        self.pending = len(self._parts[0])
        self._times: dict[int, list[int]] = {}
        self._counts = dict.fromkeys(range(1, len(channels) + 1), 0)
        # Number of chunks [1], and log times [ns] of the first and the last message. The index is kept as bytes: a
        # session may be recorded for days, and as objects the entries of one minute would take 160 kB.
        self._chunks = self._first = self._last = 0
        self._index = bytearray()
        file.write(_MAGIC)
        self._write(Header(profile="jounce", library="jounce"))

    def add(self, channel: int, ns: int, data: bytes) -> None:
        """Adds a message at log time ``ns`` [ns], which must not be before that of the last message."""
        head = _MESSAGE.pack(_MESSAGE_OPCODE, _MESSAGE.size - _PREFIX + len(data), channel, 0, ns, ns)
        self._times.setdefault(channel, []).extend((ns, self.pending))
        self._parts += (head, data)
        self.pending += len(head) + len(data)

    def end_chunk(self) -> None:
        """Writes the messages added since the last chunk, if there are any, as a chunk."""
        from mcap.records import Chunk, ChunkIndex
        from zstandard import ZstdCompressor

        if not self._times:
            return
        content = b"".join(self._parts)
        first, last = (pick(t[place] for t in self._times.values()) for pick, place in ((min, 0), (max, -2)))
        packed = ZstdCompressor(level=_LEVEL).compress(content)
        start = self._file.tell()
        length = self._write(Chunk(compression="zstd", data=packed, message_start_time=first, message_end_time=last,
                                   uncompressed_crc=zlib.crc32(content), uncompressed_size=len(content)))
        offsets, place = {}, start + length
        for channel, pairs in self._times.items():
            offsets[channel] = place
            size = 8 * len(pairs)
            head = _INDEX.pack(_INDEX_OPCODE, _INDEX.size - _PREFIX + size, channel, size)
            place += self._file.write(head + struct.pack(f"<{len(pairs)}Q", *pairs))
            self._counts[channel] += len(pairs) // 2
        self._index += _bytes(ChunkIndex(
            chunk_length=length, chunk_start_offset=start, compression="zstd", compressed_size=len(packed),
            message_end_time=last, message_index_length=place - start - length, message_index_offsets=offsets,
            message_start_time=first, uncompressed_size=len(content)))
        self._first, self._last = first if self._chunks == 0 else self._first, last
        self._chunks += 1
        self._parts.clear()
        self._times.clear()
        self.pending = 0
        self._file.flush()

    def finish(self) -> None:
        """Writes the last chunk and the summary; the file stays open."""
        from mcap.opcode import Opcode
        from mcap.records import DataEnd, Footer, Statistics, SummaryOffset

        self.end_chunk()
        self._write(DataEnd(data_section_crc=0))
        start = self._file.tell()
        statistics = Statistics(
            attachment_count=0, channel_count=len(self._channels), channel_message_counts=self._counts,
            chunk_count=self._chunks, message_count=sum(self._counts.values()), metadata_count=0,
            message_start_time=self._first, message_end_time=self._last, schema_count=len(self._schemas))
        groups = ((Opcode.SCHEMA, _bytes(*self._schemas)), (Opcode.CHANNEL, _bytes(*self._channels)),
                  (Opcode.STATISTICS, _bytes(statistics)), (Opcode.CHUNK_INDEX, self._index))
        offsets = []
        for opcode, records in groups:
            place = self._file.tell()
            size = self._file.write(records)
            offsets.append(SummaryOffset(group_opcode=opcode, group_start=place, group_length=size))
        place = self._file.tell()
        self._write(*offsets, Footer(summary_start=start, summary_offset_start=place, summary_crc=0))
        self._file.write(_MAGIC)
        self._file.flush()

    def _write(self, *records: Any) -> int:
        return self._file.write(_bytes(*records))


def _bytes(*records: Any) -> bytes:
    from mcap.data_stream import RecordBuilder

    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    return bytes(builder.end())
