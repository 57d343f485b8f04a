"""The C scanner in a process that has never imported `json`: the launch path's own case."""

import subprocess
import sys


def test_bad_text_is_a_decode_error_where_json_was_never_imported() -> None:
    program = (
        "import sys\n"
        "from pvc.core.json_text import parse\n"
        "from pvc.errors import DecodeError\n"
        "assert 'json' not in sys.modules\n"
        "for text in ('{\"a\": 1,}', '{\"a\" 1}', '[1 2]', '\"\\\\q\"', '\"a', '{'):\n"
        "    try:\n"
        "        parse(text)\n"
        "    except DecodeError:\n"
        "        continue\n"
        "    raise SystemExit(text)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
