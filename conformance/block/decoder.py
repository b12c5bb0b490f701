"""A decoder of `block`, written from docs/reference/block.md alone, in plain Python.

`decode(data)` gives the observations in their order as dictionaries with the keys of weir's JSON;
times are nanoseconds since 1970, results of the kind JSON are left as text under the key `json`.
"""

import struct

MASK = (1 << 64) - 1
MAGIC = b"WBK\x01"


class Damaged(Exception):
    """The bytes are no message of block; `at` is the offset."""

    def __init__(self, at, what):
        super().__init__(f"{what} at byte {at}")
        self.at = at


# What of the format was met so far, so that tests can tell what they covered.
met = set()


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def wrap(number):
    """Two's complement of 64 bits."""
    number &= MASK
    return number - (1 << 64) if number >> 63 else number


def unzigzag(number):
    return wrap(-(number + 1) // 2 if number & 1 else number // 2)


class Bytes:
    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def fail(self, what):
        raise Damaged(self.at, what)

    def take(self, count):
        if count > self.end - self.at:
            raise Damaged(self.end, "too few bytes")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        number = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number & MASK
        self.fail("a varint of more than ten bytes")

    def svarint(self):
        return unzigzag(self.varint())

    def double(self):
        return struct.unpack("<d", self.take(8))[0]

    def plane(self, count, width):
        bits = int.from_bytes(self.take((count * width + 7) // 8), "little")
        mask = (1 << width) - 1
        return [bits >> width * index & mask for index in range(count)]


def exceptions(bytes_, count):
    """Places of exceptions; the caller reads what stands behind each."""
    place = -1
    for _ in range(bytes_.varint()):
        place += 1 + bytes_.varint()
        if place >= count:
            bytes_.fail("an exception outside of the page")
        yield place


def packed_codes(bytes_, count):
    width = bytes_.byte()
    codes = bytes_.plane(count, width)
    for place in exceptions(bytes_, count):
        codes[place] += bytes_.varint() << width
    return codes


def rice_codes(bytes_, count):
    width = bytes_.byte()
    low = bytes_.plane(count, width)
    high = int.from_bytes(bytes_.take(bytes_.varint()), "little")
    quotients, zeros = [], 0
    while high:
        if high & 1:
            quotients.append(zeros)
            zeros = 0
        else:
            zeros += 1
        high >>= 1
    if len(quotients) != count or max(quotients, default=0) > 24:
        bytes_.fail("another number of unary codes")
    quotients = [q + bytes_.varint() if q == 24 else q for q in quotients]
    return [number + (q << width) & MASK for number, q in zip(low, quotients)]


def predicted(predictor, gains, codes):
    """The numbers y of a page from its codes."""
    if predictor == 0:
        return codes
    numbers = [0]
    before, level, slope, curvature = 0, 128, 0, 0
    for code in codes:
        error = unzigzag(code)
        if predictor == 4:
            number = numbers[-1] + code
        elif predictor == 1:
            number = numbers[-1] + error
        elif predictor == 2:
            number = 2 * numbers[-1] - before + error
            before = numbers[-1]
        else:
            number = (level >> 8) + error
            level, slope, curvature = (
                wrap(level + slope + gains[0] * error),
                wrap(slope + curvature + gains[1] * error),
                wrap(curvature + gains[2] * error),
            )
        numbers.append(wrap(number))
    return numbers


def ints_page(bytes_, most, table=None):
    """One page; numbers are looked up in the table where the page says so."""
    tag = bytes_.byte()
    body, predictor, divided, indexed = tag & 3, tag >> 2 & 7, tag >> 5 & 1, tag >> 6 & 1
    if tag >> 7 or body == 3 or predictor > 4 or (indexed and table is None):
        bytes_.fail("a page of an unknown kind")
    met.update({("body", body), ("predictor", predictor), ("divided", divided), ("indexed", indexed)})
    count, base = bytes_.varint(), bytes_.svarint()
    if not 1 <= count <= (most if body == 0 else min(most, 1024)):
        bytes_.fail("a page of another size")
    if body == 0:
        step = bytes_.svarint()
        numbers = [wrap(base + step * index) for index in range(count)]
    else:
        divisor = bytes_.varint() if divided else 1
        gains = bytes_.take(3) if predictor == 3 else None
        codes = (packed_codes if body == 1 else rice_codes)(bytes_, count - (predictor > 0))
        numbers = [wrap(base + divisor * y) for y in predicted(predictor, gains, codes)]
    if indexed:
        if not all(0 <= place < len(table) for place in numbers):
            bytes_.fail("a place outside of the table")
        numbers = [table[place] for place in numbers]
    return numbers


def ints(bytes_, count):
    numbers = []
    while len(numbers) < count:
        numbers += ints_page(bytes_, count - len(numbers))
    return numbers


def runs(bytes_, count):
    number = bytes_.varint()
    if number == 0:
        return [1] * count
    items, lengths = ints(bytes_, number), ints(bytes_, number)
    if sum(lengths) != count:
        bytes_.fail("runs of another length")
    return [item for item, length in zip(items, lengths) for _ in range(length)]


def double_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits & MASK))[0]


def order_of(number):
    bits = wrap(struct.unpack("<Q", struct.pack("<d", number))[0])
    return bits if bits >= 0 else bits ^ (MASK >> 1)


def of_order(place):
    return double_of(place if place >= 0 else place ^ (MASK >> 1))


def numbers_page(bytes_, most, table):
    way, most = bytes_.byte(), min(most, 1024)
    decimals = way & 127
    met.add(("way", "near" if 64 <= way <= 76 else "decimal" if way < 19 else way if way < 128 else "patched"))
    if way == 33:
        width = bytes_.byte()
        upper = ints_page(bytes_, most)
        lower = bytes_.plane(len(upper), width)
        return [double_of(u << width | low) for u, low in zip(upper, lower)]
    page = ints_page(bytes_, most, table)
    if way == 32:
        return [of_order(place) for place in page]
    if 64 <= way <= 76:
        beyond = ints_page(bytes_, len(page))
        near = [float(number) / 10.0 ** (way - 64) for number in page]
        return [of_order(wrap(order_of(x) + k)) for x, k in zip(near, beyond)]
    if decimals > 18:
        bytes_.fail("an unknown way")
    numbers = [float(number) / 10.0**decimals for number in page]
    if way & 128:
        for place in exceptions(bytes_, len(numbers)):
            numbers[place] = bytes_.double()
    return numbers


def doubles(bytes_, count):
    table = None
    if bytes_.byte():
        table = ints(bytes_, bytes_.varint())
    numbers = []
    while len(numbers) < count:
        numbers += numbers_page(bytes_, count - len(numbers), table)
    return numbers


def lz4(packed, size, bytes_):
    out, at = bytearray(), 0

    def length(nibble):
        nonlocal at
        more = 255
        while nibble >= 15 and more == 255:
            more = packed[at]
            nibble += more
            at += 1
        return nibble

    while True:
        token = packed[at]
        at += 1
        literals = length(token >> 4)
        out += packed[at : at + literals]
        at += literals
        if at >= len(packed):
            break
        offset = packed[at] | packed[at + 1] << 8
        at += 2
        if not 1 <= offset <= len(out):
            bytes_.fail("an offset outside of the LZ4 block")
        for _ in range(length(token & 15) + 4):
            out.append(out[-offset])
    if len(out) != size:
        bytes_.fail("an LZ4 block of another length")
    return bytes(out)


def texts(bytes_, count):
    different = bytes_.varint()
    if different == 0:
        return [None] * count
    shared, rests = ints(bytes_, different), ints(bytes_, different)
    size = bytes_.varint()
    packed = bytes_.byte()
    met.add(("texts packed", packed))
    data = lz4(bytes_.take(bytes_.varint()), size, bytes_) if packed else bytes_.take(size)
    known, before, at = [], b"", 0
    for own, rest in zip(shared, rests):
        before = before[:own] + data[at : at + rest]
        at += rest
        known.append(before.decode())
    return [known[number - 1] if number else None for number in ints(bytes_, count)]


def spread(there, items):
    """Items to the rows that have one."""
    items = iter(items)
    return [next(items) if has else None for has in there]


def presence(bytes_, count):
    there = runs(bytes_, count)
    return there, sum(there)


class Chunk:
    """The columns of a chunk."""

    def __init__(self, data, at, end):
        body = Bytes(data, at, end)
        self.rows = body.varint()
        self.columns = {}
        last = 0
        while body.at < body.end:
            number = body.byte()
            if number <= last or 14 < number < 128:
                body.fail("an unknown column")
            last, size = number, body.varint()
            met.add(("column", number))
            body.take(size)
            self.columns[number] = Bytes(data, body.at - size, body.at)

    def read(self, number, read, absent):
        column = self.columns.get(number)
        if column is None:
            return absent
        found = read(column)
        if column.at != column.end:
            column.fail("bytes behind the column")
        return found

    def observations(self):
        n = self.rows
        nothing = [None] * n
        times = self.read(3, self.times, nothing)
        kinds = self.read(4, lambda column: runs(column, n), [1] * n)
        values = self.values(kinds)
        places = self.read(8, self.places, nothing)
        ends = self.read(9, lambda column: self.since(column, times), nothing)
        results = self.read(10, lambda column: self.since(column, times), nothing)
        valid = self.read(11, lambda column: self.valid(column, times), nothing)
        others = [self.read(number, lambda c: texts(c, n), nothing) for number in (12, 13, 14)]
        names = self.read(1, self.names, [{}])
        series, position = self.order(len(names))
        for index, row in zip(series, position):
            found = {**names[index], **values[row], "time": times[row], **(places[row] or {})}
            found |= {"end": ends[row], "resultTime": results[row], "validTime": valid[row]}
            found |= dict(zip(("quality", "feature", "parameters"), (o[row] for o in others)))
            yield {key: value for key, value in found.items() if value is not None or key == "value"}

    def times(self, column):
        there, count = presence(column, self.rows)
        return spread(there, ints(column, count))

    def values(self, kinds):
        numbers = iter(self.read(5, lambda c: doubles(c, kinds.count(1)), []))
        truths = iter(self.read(6, lambda c: runs(c, kinds.count(2)), []))
        count = kinds.count(3) + kinds.count(4)
        strings = iter(self.read(7, lambda c: texts(c, count), []))
        of = {
            0: lambda: {"value": None},
            1: lambda: {"value": next(numbers)},
            2: lambda: {"value": next(truths) == 1},
            3: lambda: {"value": next(strings)},
            4: lambda: {"json": next(strings)},
        }
        return [of[kind]() for kind in kinds]

    def places(self, column):
        there, count = presence(column, self.rows)
        pairs = zip(doubles(column, count), doubles(column, count))
        return spread(there, [{"lat": lat, "lon": lon} for lat, lon in pairs])

    def since(self, column, times):
        there, count = presence(column, self.rows)
        spans = spread(there, ints(column, count))
        return [None if span is None else wrap((time or 0) + span) for time, span in zip(times, spans)]

    def valid(self, column, times):
        there, count = presence(column, self.rows)
        begins, spans = ints(column, count), ints(column, count)
        pairs = spread(there, zip(begins, spans))
        found = []
        for time, pair in zip(times, pairs):
            begin = wrap((time or 0) + pair[0]) if pair else None
            found.append((begin, wrap(begin + pair[1])) if pair else None)
        return found

    def names(self, column):
        count = column.varint()
        named = ints(column, count)
        members = [texts(column, count) for _ in range(4)]
        found = []
        for index in range(count):
            name = dict(zip(("topic", "sensor", "type", "unit"), (m[index] for m in members)))
            if named[index] > 1:
                name["naming"] = named[index]
            found.append(name)
        return found

    def order(self, count):
        """The series and the row of each observation."""
        series = self.read(2, lambda column: self.series_of(column, count), [0] * self.rows)
        sizes = [0] * count
        for index in series:
            sizes[index] += 1
        following = [sum(sizes[:index]) for index in range(count)]
        position = []
        for index in series:
            position.append(following[index])
            following[index] += 1
        return series, position

    def series_of(self, column, count):
        order = column.byte()
        met.add(("order", order))
        if order == 1:
            return [row % count for row in range(self.rows)]
        if order == 2:
            return ints(column, self.rows)
        if order != 0:
            column.fail("an unknown order")
        sizes = ints(column, count)
        return [index for index, size in enumerate(sizes) for _ in range(size)]


def chunks(data):
    at = 0
    while at < len(data):
        head = data[at : at + 12]
        if len(head) < 12 or head[:4] != MAGIC:
            raise Damaged(at, "no head of a chunk")
        size, checksum = struct.unpack("<II", head[4:])
        end = at + 12 + size
        if end > len(data):
            raise Damaged(len(data), "the chunk is cut")
        if crc32c(head[:8] + data[at + 12 : end]) != checksum:
            raise Damaged(at + 8, "another checksum")
        yield Chunk(data, at + 12, end)
        at = end


def decode(data):
    return [observation for chunk in chunks(data) for observation in chunk.observations()]
