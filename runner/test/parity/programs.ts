// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are commands of a shell
// What agents run beside the commands of the shell's differential test: Python, npm, npx and runners of tests, in the same fixture.
// None of them needs a network.

import type { CorpusEntry } from '../../../test/support/real-shell-types.ts'

const PYTHON_TEST = `mkdir -p py && cat > py/calc.py <<'END'
def add(a, b):
    return a + b
END
cat > py/test_calc.py <<'END'
import unittest
from calc import add

class Adding(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(1, 2), 3)

    def test_wrong(self):
        self.assertEqual(add(1, 2), 4)
END
cd py`
const NODE_TEST = `mkdir -p js && cd js && cat > package.json <<'END'
{ "name": "js", "type": "module", "scripts": { "test": "node --test", "build": "node build.js", "hello": "echo hello" } }
END
echo "import { writeFileSync } from 'node:fs'; writeFileSync('out.txt', 'built')" > build.js
cat > sum.test.js <<'END'
import assert from 'node:assert/strict'
import { test } from 'node:test'
test('adds', () => assert.equal(1 + 2, 3))
test('fails', () => assert.equal(1 + 2, 4))
END`
/** Durations and places of a run's own. */
const STEADY = "sed -E 's/[0-9]+[.][0-9]+(e-?[0-9]+)?( ?m?s)?/T/g; s/duration_ms [0-9.]+/duration_ms T/g'"

const SCRIPTS: Readonly<Record<string, string>> = {
  version: 'python3 --version; python3 -V | wc -l',
  arithmetic: 'python3 -c "print(2 ** 100, 7 // 2, 7 % 3)"',
  status: 'python3 -c "import sys; sys.exit(7)"',
  traceback: 'python3 -c "1 / 0"',
  'syntax-error': 'printf "def f(:\\n" > bad.py; python3 bad.py',
  heredoc: "python3 - a b <<'END'\nimport sys\nprint(sys.argv, __name__)\nEND",
  json: 'python3 -m json.tool data/orders.json | head -5',
  terminal: 'python3 -c "import sys, os; print(sys.stdout.isatty(), sys.stdin.isatty(), os.get_terminal_size())"',
  environment:
    "X=1 python3 -c \"import os; print(os.environ['X'], os.environ['LC_ALL'], os.getcwd() == os.environ['PWD'])\"",
  encoding: 'python3 -c "import sys; print(sys.stdout.encoding, \'漢字 äöü\')"',
  bytes: 'python3 -c "import sys; sys.stdout.buffer.write(bytes(range(33, 256)))" | od -An -tx1 | head -3',
  subprocess: "python3 -c \"import subprocess; print(subprocess.run(['ls', 'src'], capture_output=True, text=True))\"",
  signal: 'python3 -c "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"; echo $?',
  files:
    "python3 -c \"import pathlib; p = pathlib.Path('new/deep'); p.mkdir(parents=True); (p / 'f.txt').write_text('x\\n' * 3)\"; wc -l new/deep/f.txt",
  walk: 'python3 -c "import os; print(sorted((r, sorted(f)) for r, d, f in os.walk(\'src\')))"',
  stdin: 'printf "3\\n1\\n2\\n" | python3 -c "import sys; print(sorted(map(int, sys.stdin)))"',
  sqlite: "python3 -c \"import sqlite3; c = sqlite3.connect(':memory:'); print(c.execute('select 1 + 1').fetchone())\"",
  threads:
    'python3 -c "import threading; t = [threading.Thread(target=print, args=(1,)) for _ in range(3)]; [x.start() or x.join() for x in t]"',
  venv: 'python3 -m venv --without-pip .venv && . .venv/bin/activate && python -c "import sys; print(sys.prefix != sys.base_prefix)"; which python | sed "s#.*/.venv#.venv#"; deactivate; rm -r .venv',
  unittest: `${PYTHON_TEST}; python3 -m unittest 2>&1 | ${STEADY}; echo "\${PIPESTATUS[0]}"`,
  pytest: `${PYTHON_TEST}; python3 -m pytest -q -p no:cacheprovider 2>&1 | ${STEADY}; echo "\${PIPESTATUS[0]}"`,
  compile: 'python3 -m py_compile script.py; echo $?; python3 -m compileall -q src; echo $?',
  'pip-version': 'pip --version > /dev/null; echo $?; pip download no-such-option --nope 2>&1 | tail -1',
  http: 'python3 -m http.server 0 --bind 127.0.0.1 > log.txt 2>&1 & sleep 0.3; kill $!; wait $!; echo $?',
  'npm-version': 'npm --version; npx --version',
  'npm-run': `${NODE_TEST}; npm run build; cat out.txt; echo; npm run hello --silent; npm run; npm run nothing 2>&1 | head -3`,
  'npm-test': `${NODE_TEST}; npm test 2>&1 | ${STEADY}; echo "\${PIPESTATUS[0]}"`,
  'npm-pkg': `${NODE_TEST}; npm pkg get name; npm pkg set version=1.2.3; cat package.json`,
  'npm-init': 'mkdir fresh && cd fresh && npm init -y && cat package.json',
  'npm-pack': `${NODE_TEST}; npm pkg set version=1.0.0; npm pack --silent; tar tf js-1.0.0.tgz`,
  'npm-version-bump': `${NODE_TEST}; npm pkg set version=1.0.0; npm version minor --no-git-tag-version; grep version package.json`,
  'npm-ls': `${NODE_TEST}; npm ls 2>&1 | sed 's#/.*/js#js#'`,
  'npm-exec': `${NODE_TEST}; npm exec -c 'echo $npm_package_name'`,
  'npx-local': `${NODE_TEST}; mkdir -p node_modules/.bin; printf '#!/bin/sh\\necho tool "$@"\\n' > node_modules/.bin/tool; chmod +x node_modules/.bin/tool; npx tool a b`,
  'node-test': `${NODE_TEST}; node --test 2>&1 | ${STEADY}; echo "\${PIPESTATUS[0]}"`,
  'node-test-tap': `${NODE_TEST}; node --test --test-reporter=tap 2>&1 | ${STEADY}; echo "\${PIPESTATUS[0]}"`,
  'node-error': 'node -e "throw new Error(\'x\')" 2>&1 | head -8; node -e "process.exit(3)"; echo $?',
  'node-terminal': 'node -p "[process.stdout.isTTY, process.stdout.columns, process.stdin.isTTY]"',
  'node-child': "node -e \"console.log(require('child_process').execSync('ls src').toString())\"",
  'node-server':
    "node -e \"const s = require('http').createServer((q, r) => r.end('hi')).listen(0, '127.0.0.1', () => fetch(`http://127.0.0.1:${s.address().port}`).then(r => r.text()).then(t => { console.log(t); s.close() }))\"",
  make: 'printf "all: a\\n\\techo done\\na:\\n\\ttouch a\\n" > Makefile; make; make a; make none; echo $?',
  gcc: 'printf "#include <stdio.h>\\nint main(int c, char **v) { printf(\\"%d\\\\n\\", c); return 4; }\\n" > m.c; gcc -o m m.c && ./m a b; echo $?; gcc -o x none.c; echo $?',
  perl: 'perl -ne "print if /a/" data/left.txt | head -2; perl -e "exit 9"; echo $?',
  background: 'sleep 0.2 & echo started; wait; echo ended',
  pipes: 'yes | head -n 100000 | wc -l; echo "${PIPESTATUS[@]}"',
  'long-output': 'seq 1 100000',
  'long-line': 'head -c 300000 /dev/zero | tr "\\0" x; echo',
  colours: 'printf "\\033[31mred\\033[0m\\n"; ls --color=always src | od -c | head -3',
}

export const PROGRAM_ENTRIES: readonly CorpusEntry[] = Object.entries(SCRIPTS).map(([name, script]) => ({
  id: `machine/${name}`,
  theme: 'machine',
  fixture: 'project',
  script,
  needs: [],
  normalise: [],
}))
