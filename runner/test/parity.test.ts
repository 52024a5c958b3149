// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are commands of a shell
// What a session answers is what the machine's own bash answers: the same commands in the same folder, one after the other.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRunner, temporaryFolder } from './support/runner-process.ts'

const FILES = {
  'a.txt': 'one\ntwo\nthree\n',
  'b/c.json': '{"x": [1, 2]}\n',
  'b/d.py': 'import sys\nprint(sys.argv[1:], 6 * 7)\n',
  'e.js': 'console.log(process.argv.length)\n',
}

const COMMANDS: readonly string[] = [
  'echo hello',
  'printf "%s|" a b c',
  'cat a.txt | sort -r | head -n 2',
  'grep -n two a.txt',
  'grep -c nothing a.txt',
  'find . -type f | sort',
  'sed -n 2p a.txt',
  "awk '{ print NR, $1 }' a.txt",
  'wc -l < a.txt',
  'cat missing',
  'no_such_command',
  'false',
  '(exit 42)',
  'test -f a.txt && echo yes || echo no',
  'for i in 1 2 3; do echo $i; done',
  'x=1; y=$((x + 2)); echo $y',
  'arr=(a b c); echo "${arr[1]} ${#arr[@]}"',
  'f() { local v=in; echo $v "$@"; return 3; }; f p',
  'echo "a  b"; echo a   b; echo "$HOME" | grep -c /',
  'cat <<EOF\n$((1 + 1))\nEOF',
  "cat <<'EOF'\n$((1 + 1))\nEOF",
  'diff a.txt b/c.json | wc -l',
  'ls missing 2> /dev/null; echo $?',
  'echo err >&2',
  'set -o pipefail; false | true',
  'set +o pipefail; false | true',
  'python3 b/d.py one two',
  'python3 -c "raise SystemExit(5)"',
  'python3 -c "import json; print(json.load(open(\'b/c.json\')))"',
  'node e.js a b',
  'node -e "process.exit(9)"',
  'git init -q repo && cd repo && git status --short && cd ..',
  'git -C repo log',
  'mkdir -p p/q && touch p/q/r && rm -r p && ls | cat',
  'tar cf t.tar a.txt && tar tf t.tar',
  'echo one > n; echo two >> n; cat n',
  'read -r first < a.txt; echo "$first"',
  'while read -r line; do echo "<$line>"; done < a.txt',
  'case abc in a*) echo match;; esac',
  '[[ abc =~ b(.) ]] && echo "${BASH_REMATCH[1]}"',
  'echo {1..5} {a,b}c',
  'echo *.txt',
  'trap "echo bye" RETURN; trap - RETURN',
  'printf "\\303\\251\\n"',
  'printf "no line end"',
  "printf '\\000\\001\\377' | od -An -tx1",
  'seq 1 20000 | tail -n 1',
  'sleep 0.01 & wait; echo waited',
  'kill -TERM $BASHPID & wait; echo after',
  'echo "unicode: äöü 漢字"',
  'export A=1; env | grep ^A=',
  'unset A; echo "${A-unset}"',
  'bash -c "exit 7"',
  'sh -c "echo sh; exit 1"',
  'true',
]

test('samples answer as the machine does', async () => {
  const { service, folder } = await startRunner()
  const session = await service.open('c1')
  const own = temporaryFolder()
  for (const [path, text] of Object.entries(FILES)) {
    session.tree.write(path, text)
    mkdirSync(join(own, path, '..'), { recursive: true })
    writeFileSync(join(own, path), text)
  }
  await session.push()
  const differences: unknown[] = []
  for (const command of COMMANDS) {
    const { status, stdout } = spawnSync('bash', ['--norc', '--noprofile', '-c', `exec 2>&1\n${command}`], {
      cwd: own,
      encoding: 'utf8',
    })
    // Each on its own, as the other: a session of one shell keeps what the last command set.
    const { output, outcome } = await session.run(`( ${command}\n)`)
    const [wanted, found] = [withoutPlaces(stdout), withoutPlaces(output)]
    if (wanted !== found || status !== outcome.exitCode)
      differences.push({ command, wanted, found, status, exitCode: outcome.exitCode })
  }
  expect(differences).toEqual([])
  const left = (root: string) =>
    execFileSync('find', ['.', '-path', './repo/.git', '-prune', '-o', '-type', 'f', '-print'], {
      cwd: root,
      encoding: 'utf8',
    })
      .split('\n')
      .sort()
  expect(left(join(folder, 'c1', 'workspace'))).toEqual(left(own))
})

/** Names of the script and of the line stand in bash's own messages: a script has them, a session does not. */
function withoutPlaces(text: string): string {
  return text.replace(/^(bash|environment)?: (line \d+: )?/gm, 'bash: ').replace(/^bash: line \d+: /gm, 'bash: ')
}
