"""Runs zktop in a terminal of its own and prints the screen once it shows what is asked for.

Usage: zktop_screen.py SERVERS PATTERN. The terminal is a pseudo-terminal of 24 lines by 100
columns; what zktop draws is followed by a small interpreter of the control sequences that curses
sends for TERM=ansi. Exits 0 with the screen on standard output when the pattern, matched
against the whole screen, was seen; 1 with the last screen when it was not in time.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

ROWS, COLUMNS = 24, 100
DEADLINE_S = 30
SEQUENCE = re.compile(
    rb"\x1b\[([?0-9;]*)([A-Za-z@])|\x1b[()][A-Z0-9]|\x1b([=>78MDE])"
    rb"|([\x00-\x1a\x1c-\x1f])|([^\x00-\x1f]+)"
)


class Screen:
    """A grid of characters, a cursor, and the sequences that move and erase."""

    def __init__(self):
        self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.rest = b""
        self.last = " "

    def feed(self, data):
        data = self.rest + data
        at = 0
        while at < len(data):
            match = SEQUENCE.match(data, at)
            if match is None:
                break
            at = match.end()
            self._apply(match)
        self.rest = data[at:]

    def _apply(self, match):
        arguments, final, _, control, text = match.groups()
        if text is not None:
            for char in text.decode("utf8", "replace"):
                self._put(char)
        elif control is not None:
            self._control(control)
        elif final is not None and not arguments.startswith(b"?"):
            numbers = [int(part) if part else 0 for part in arguments.split(b";")]
            self._sequence(final.decode(), numbers)

    def _put(self, char):
        self.last = char
        if self.column < COLUMNS:
            self.cells[self.row][self.column] = char
            self.column += 1

    def _control(self, control):
        if control == b"\r":
            self.column = 0
        elif control == b"\n":
            self.row = min(self.row + 1, ROWS - 1)
        elif control == b"\b":
            self.column = max(self.column - 1, 0)
        elif control == b"\t":
            self.column = min(self.column // 8 * 8 + 8, COLUMNS - 1)

    def _sequence(self, final, numbers):
        first, count = numbers[0], max(numbers[0], 1)
        line = self.cells[self.row]
        if final in "Hf":
            self.row = min(max(first, 1), ROWS) - 1
            self.column = min(max(numbers[1] if len(numbers) > 1 else 1, 1), COLUMNS) - 1
        elif final == "A":
            self.row = max(self.row - count, 0)
        elif final == "B":
            self.row = min(self.row + count, ROWS - 1)
        elif final == "C":
            self.column = min(self.column + count, COLUMNS - 1)
        elif final == "D":
            self.column = max(self.column - count, 0)
        elif final == "d":
            self.row = min(count, ROWS) - 1
        elif final == "G":
            self.column = min(count, COLUMNS) - 1
        elif final == "b":
            for _ in range(count):
                self._put(self.last)
        elif final == "X":
            self._erase_line(self.column, self.column + count)
        elif final == "@":
            line[self.column:] = ([" "] * count + line[self.column:])[:COLUMNS - self.column]
        elif final == "P":
            rest = line[self.column + count:] + [" "] * COLUMNS
            line[self.column:] = rest[:COLUMNS - self.column]
        elif final in "LM":
            self._shift_lines(count if final == "L" else -count)
        elif final == "J":
            self._erase_line(self.column if first == 0 else 0, COLUMNS)
            for row in range(self.row + 1 if first == 0 else 0, ROWS):
                self.cells[row] = [" "] * COLUMNS
        elif final == "K":
            begin, end = ((self.column, COLUMNS), (0, self.column + 1), (0, COLUMNS))[first]
            self._erase_line(begin, end)

    def _shift_lines(self, count):
        """Opens `count` lines at the cursor, or takes them out when negative."""
        below = self.cells[self.row:]
        empty = [[" "] * COLUMNS for _ in range(abs(count))]
        moved = empty + below if count > 0 else below[-count:] + empty
        self.cells[self.row:] = moved[:len(below)]

    def _erase_line(self, begin, end):
        for column in range(begin, min(end, COLUMNS)):
            self.cells[self.row][column] = " "

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells).rstrip()


def main(servers, pattern):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="ansi", LINES=str(ROWS), COLUMNS=str(COLUMNS))
        os.execv("/usr/bin/zktop", ["zktop", "--servers", servers, "--timeout", "5"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = Screen()
    end = time.monotonic() + DEADLINE_S
    seen = False
    while not seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                screen.feed(os.read(terminal, 65536))
            except OSError:
                break
        seen = re.search(pattern, screen.text()) is not None
    print(screen.text())
    try:
        os.write(terminal, b"q")
    except OSError:
        pass
    os.close(terminal)
    os.waitpid(pid, 0)
    return 0 if seen else 1


sys.exit(main(*sys.argv[1:3]))
