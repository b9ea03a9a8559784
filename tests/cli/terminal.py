"""`dtkb run` on a terminal: what the job sees and what arrives. usage: terminal.py DTKB"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

DTKB = sys.argv[1]


class Terminal:
    """A program on a pseudo terminal of its own, as its session's foreground job."""

    def __init__(self, *argv, rows=33, columns=117):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)
        self.output = b""
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, word, seconds=15):
        end = time.monotonic() + seconds
        while word not in self.output:
            left = end - time.monotonic()
            assert left > 0, "no %r in %r" % (word, self.output)
            if select.select([self.fd], [], [], left)[0] and not self.read():
                raise AssertionError("ended without %r: %r" % (word, self.output))

    def read(self):
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:  # the other side is closed
            return False
        self.output += chunk
        return bool(chunk)

    def finish(self):
        while self.read():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status


def under_dtkb(script):
    return Terminal(DTKB, "run", "--probe", "none", "--", sys.executable, "-u", "-c", script)


def the_job_sees_a_terminal():
    terminal = under_dtkb(
        """
import os, signal, sys, time
print("ttys", [os.isatty(fd) for fd in (0, 1, 2)])
def changed(*_):
    print("size", *os.get_terminal_size(1))
signal.signal(signal.SIGWINCH, changed)
print("waiting")
end = time.monotonic() + 10
while os.get_terminal_size(1) != (91, 41) and time.monotonic() < end:
    time.sleep(0.02)
time.sleep(0.2)
print("\\033[31mred\\033[0m\\tprogress 1\\rprogress 2")
"""
    )
    terminal.read_until(b"waiting")
    terminal.resize(41, 91)
    assert terminal.finish() == 0, terminal.output
    assert b"ttys [True, True, True]\r\n" in terminal.output, terminal.output
    assert b"size 91 41\r\n" in terminal.output, terminal.output
    assert terminal.output.endswith(b"\033[31mred\033[0m\tprogress 1\rprogress 2\r\n"), terminal.output


def the_size_is_right_from_the_start():
    # The resize of __init__ may come after dtkb looked; a job started by a shell on that terminal comes surely after.
    terminal = Terminal("sh", "-c", 'sleep 0.3; exec "$0" run --probe none -- stty -F /dev/stdout size', DTKB)
    assert terminal.finish() == 0, terminal.output
    assert terminal.output == b"33 117\r\n", terminal.output


def control_c_reaches_the_job_once():
    terminal = under_dtkb(
        """
import signal, sys, time
count = 0
def more(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, more)
print("ready")
time.sleep(1)
time.sleep(0.3)
print("interrupts", count)
sys.exit(5)
"""
    )
    terminal.read_until(b"ready")
    os.write(terminal.fd, b"\x03")
    status = terminal.finish()
    assert b"interrupts 1\r\n" in terminal.output, terminal.output
    assert status == 5, (status, terminal.output)
    assert b"dtkb" in terminal.output.split(b"interrupts 1")[1], terminal.output


def a_job_that_dies_of_control_c():
    terminal = under_dtkb("import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); print('ready'); time.sleep(30)")
    terminal.read_until(b"ready")
    os.write(terminal.fd, b"\x03")
    assert terminal.finish() == 128 + signal.SIGINT, terminal.output


for test in (the_job_sees_a_terminal, the_size_is_right_from_the_start, control_c_reaches_the_job_once, a_job_that_dies_of_control_c):
    test()
print("fine")
