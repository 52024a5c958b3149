// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { expect, test } from 'vitest'
import { MemoryFileSystem } from '../../../src/workspace/memory-file-system.ts'
import { runScript } from '../../../src/workspace/shell.ts'

/** What bash 5.2 writes for each of them. */
const SCRIPTS: readonly [script: string, output: string][] = [
  ['f() { echo 3; }; echo $((2 * $(f)))', '6\n'],
  ['fact() { if (( $1 <= 1 )); then echo 1; else echo $(( $1 * $(fact $(( $1 - 1 ))) )); fi; }; fact 10', '3628800\n'],
  ['x=5; echo $(( x + $(echo $x) )); a[$(( $(echo 2) ))]=y; echo "${a[2]}"', '10\ny\n'],
  ['set -u; echo "${x:-safe}"; for i in "${1:-a}" "${x:-}"; do echo "[$i]"; done', 'safe\n[a]\n[]\n'],
  ['set -u; echo "${x:+y}|${z:=2}|$z"', '|2|2\n'],
  ['echo é | while read x; do echo "${#x} $x"; done; read y <<< ß; echo "${#y}$y"', '1 é\n1ß\n'],
  ['printf \'é ü\\n日本\\n\' > f; mapfile -t a < f; read -ra p < f; echo "${#a[1]} ${a[0]} ${#p[1]}"', '2 é ü 1\n'],
  ['IFS=: read -r k v < <(printf \'ü:ß\\n\'); echo "$v-$k ${#k}"', 'ß-ü 1\n'],
  ['f() { local -i c=0; c+=1; c+=1; echo $c; }; f; c=1; c+=1; echo $c', '2\n11\n'],
  [
    'work() { trap \'echo cleaned\' EXIT; echo x; }; ( work ); echo done; echo "$(work)"',
    'x\ncleaned\ndone\nx\ncleaned\n',
  ],
  ['f() { echo q; ls nofile; echo r; }; f 2>&1', "q\nls: cannot access 'nofile': No such file or directory\nr\n"],
  ['echo \'echo "$0"\' > r.sh; chmod +x r.sh; ./r.sh; PATH=".:$PATH" r.sh; bash r.sh', './r.sh\n./r.sh\nr.sh\n'],
]

test('what the interpreter misreads is read as bash reads it', async () => {
  for (const [script, output] of SCRIPTS) {
    const result = await runScript({ fs: new MemoryFileSystem(), script, cwd: '/workspace', env: {} })
    expect([script, result.output]).toEqual([script, output])
  }
})

test('a pattern that is never matched, and letters that would be cut apart, are refused in words', async () => {
  const run = (script: string) => runScript({ fs: new MemoryFileSystem(), script, cwd: '/workspace', env: {} })
  expect(await run('shopt -s extglob\ntouch a.txt b.md\nls ./!(*.md)')).toMatchObject({
    output: 'bash: !(*.md): patterns with !(...) are not available here for file names\n',
    exitCode: 1,
  })
  expect(await run('read -n 1 c <<< é')).toMatchObject({
    output: 'bash: read: -n: characters beyond ASCII are not available here\n',
    exitCode: 1,
  })
})

test('a pattern that ends with a slash is refused wherever it stands, and a quoted one is a text', async () => {
  const run = (script: string) => runScript({ fs: new MemoryFileSystem(), script, cwd: '/workspace', env: {} })
  for (const script of ['ls -d */', 'for d in src/*/; do echo $d; done', 'x=(*/)', 'f() { echo q*/; }; f']) {
    expect([script, await run(`touch a; mkdir b; ${script}`)]).toEqual([
      script,
      expect.objectContaining({
        output: 'bash: */: patterns that end with a slash are not available here: find . -maxdepth 1 -type d\n',
        exitCode: 1,
      }),
    ])
  }
  expect(await run('echo "*/" src/ \'a*/\'')).toMatchObject({ output: '*/ src/ a*/\n', exitCode: 0 })
})
