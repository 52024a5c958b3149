// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { expect, test } from 'vitest'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

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

test('letters that would be cut apart, and groups of patterns without extglob, are refused in words', async () => {
  const run = (script: string) => runScript({ fs: new MemoryFileSystem(), script, cwd: '/workspace', env: {} })
  expect(
    await run('touch a.txt b.md; shopt -s extglob; ls ./!(*.md); shopt -u extglob; echo @(a|b)*; echo no'),
  ).toMatchObject({
    output: "./a.txt\nbash: syntax error near unexpected token `('\n",
    exitCode: 2,
  })
  expect(await run('read -n 1 c <<< é')).toMatchObject({
    output: 'bash: read: -n: characters beyond ASCII are not available here\n',
    exitCode: 1,
  })
})

test('what the shell writes after `exec > >(command)` goes to the command, and to `tee` at once', async () => {
  const run = async (script: string) =>
    (await runScript({ fs: new MemoryFileSystem(), script, cwd: '/workspace', env: {} })).output
  expect(
    await run('exec > >(tee -a log) 2>&1; echo a; nothere; (echo b); bash -c "echo c"; cat log >> all; cat all'),
  ).toBe('a\nbash: nothere: command not found\nb\nc\na\nbash: nothere: command not found\nb\nc\n')
  expect(await run('exec 2> >(tee err >&2); echo out; echo oops >&2; cat err')).toBe('out\noops\noops\n')
  // Another command reads it when the shell has ended, with the options that were set when it was named.
  expect(await run('exec > >(sed "s/^/> /"); trap "echo bye" EXIT; echo a; set -x; echo b 2>&1')).toContain('> a\n')
  expect(await run('(exec > >(tr a-z A-Z); echo in); echo out')).toBe('IN\nout\n')
  expect(await run('echo x > >(cat); exec 3< <(echo y); read -r z <&3; echo $z')).toBe('x\ny\n')
})

test('what a loop writes to a file is there for whoever looks, and when the script is stopped', async () => {
  const run = (script: string) => runScript({ fs: new MemoryFileSystem(), script, cwd: '/workspace', env: {} })
  expect(
    (await run('for i in 1 2 3; do echo $i; [ $(wc -l < f) = $i ] && echo seen >&2; done > f; cat f')).output,
  ).toBe('seen\nseen\nseen\n1\n2\n3\n')
  const fs = new MemoryFileSystem()
  const script = 'exec > log; echo first; while :; do :; done'
  await runScript({ fs, script, cwd: '/workspace', env: {}, limits: { timeoutMs: 300 } })
  expect(new TextDecoder().decode(await fs.read('/workspace/log'))).toBe('first\n')
})

const FOLDERS =
  'mkdir -p a/sub b "a b" src/one src/two/three .hid; touch f1 a/1.txt src/one/index.ts src/two/index.ts src/two/three/x.ts; ln -s a lnk; ln -s none gone; '

/** As bash 5.2 in the C locale. */
const PATTERNS: readonly [script: string, output: string][] = [
  ['echo */ .*/ zz*/ f*/', 'a b/ a/ b/ lnk/ src/ .hid/ zz*/ f*/\n'],
  ['for d in src/*/; do echo "[$d]"; done; x=(*/); echo ${#x[@]}', '[src/one/]\n[src/two/]\n5\n'],
  [
    'f() { local -a d=("$1"/*/); echo "${d[@]}"; }; f src; p=s*/; echo $p; d=src; echo "$d"/*/',
    'src/one/ src/two/\nsrc/\nsrc/one/ src/two/\n',
  ],
  ['shopt -s nullglob; echo zz*/ f*/; shopt -u nullglob; shopt -s dotglob; echo */', '\n.hid/ a b/ a/ b/ lnk/ src/\n'],
  ['shopt -s failglob\necho f*/\necho "$?"; set -f; echo */', 'bash: no match: f*/\n1\n*/\n'],
  [
    'echo src/*/index.ts "sr"c/*/"index".ts */sub/ {s,a}*/',
    'src/one/index.ts src/two/index.ts src/one/index.ts src/two/index.ts a/sub/ lnk/sub/ src/ a b/ a/\n',
  ],
  [
    'shopt -s globstar; echo **/; echo src/**; echo **/*.ts; echo **/two/*.ts **/three zz/**',
    'a b/ a/ a/sub/ b/ lnk/ src/ src/one/ src/two/ src/two/three/\nsrc/ src/one src/one/index.ts src/two src/two/index.ts src/two/three src/two/three/x.ts\nsrc/one/index.ts src/two/index.ts src/two/three/x.ts\nsrc/two/index.ts src/two/three zz/**\n',
  ],
  ['echo "*/" src/ \'a*/\'', '*/ src/ a*/\n'],
]

test('patterns of folders, and of folders in folders, are matched as in bash', async () => {
  for (const [script, output] of PATTERNS)
    expect([script, (await run(FOLDERS + script)).output]).toEqual([script, output])
})

/** What ends a shell or a line of it: the output and the exit code of bash. */
const ENDS: readonly [script: string, output: string, exitCode: number][] = [
  ['set -u; f() { echo $nope; }; f; echo after', 'bash: nope: unbound variable\n', 127],
  [
    'set -u; (echo $nope); echo "sub $?"; x=$(echo $nope); echo "sub $?"',
    'bash: nope: unbound variable\nsub 1\nbash: nope: unbound variable\nsub 1\n',
    0,
  ],
  ['set -u; eval "echo \\$nope"; echo after', 'bash: nope: unbound variable\n', 127],
  [
    'echo "set -u; [[ -n \\$nope ]]; echo after" > s; bash s; echo $?; bash -uc \'echo $1\'; echo $?',
    'bash: nope: unbound variable\n1\nbash: $1: unbound variable\n127\n',
    0,
  ],
  ['set -e; set -u; echo $nope', 'bash: nope: unbound variable\n', 1],
  ['echo ${nope?no word}', 'bash: nope: no word\n', 127],
  [
    'echo $((1/0)); echo same line\necho "next $?"',
    'bash: line 1: 1/0: division by 0 (error token is "0")\nnext 1\n',
    0,
  ],
  [
    'f() { for i in 1 2; do echo $((i/0)); done; echo in; }\nf || echo or\necho "$?"; (echo $((1/0)); echo in); echo "$?"; exit 4',
    'bash: line 1: i/0: division by 0 (error token is "0")\n1\nbash: line 3: 1/0: division by 0 (error token is "0")\n1\n',
    4,
  ],
  ['cd a b', 'bash: cd: too many arguments\n', 1],
  ['f() { local -n x=x; }; x=1; f', 'bash: local: x: a reference to its own name is not available here\n', 1],
  ['exec -a name true; echo on', 'bash: exec: -a: a command cannot be given another name here\non\n', 0],
  ['enable -n echo', 'bash: enable: -n: builtins cannot be turned off or loaded here\n', 1],
  ['cat <&-', 'cat: -: Bad file descriptor\n', 1],
  ['coproc cat', 'bash: syntax error: Parse error at 1:1: coproc is not available here\n', 2],
  ['ulimit -n; ulimit -n 10', 'unlimited\nbash: ulimit: 10: limits cannot be set here\n', 1],
]

test('errors end as much as they end in bash', async () => {
  for (const [script, output, exitCode] of ENDS) {
    const result = await run(script)
    expect([script, result.output, result.exitCode]).toEqual([script, output, exitCode])
  }
})

/** What an array is made of in a declaration, ranges, functions as text, the mask of new files. */
const VALUES: readonly [script: string, output: string][] = [
  [
    'f() { local x=($(echo a b)) i; echo "${#x[@]}"; local y=("$@" "$(echo q r)" {1..3} $((1+2))); echo "${#y[@]} ${y[@]}"; }; f 1 "2 3"',
    '2\n7 1 2 3 q r 1 2 3 3\n',
  ],
  [
    'declare -A m=([k1]=foo [k2]=\'spam eggs\' ["a b"]="$(echo x y)"); echo "${m[k2]}|${m[a b]}|${#m[@]}"',
    'spam eggs|x y|3\n',
  ],
  [
    'f() { local -A m=([a]=\'1 2\' [b]="3 4"); echo "${m[a]}${m[b]}"; local -r c=("a b" c); echo ${#c[@]}; }; f; echo "[${c[*]}]"',
    '1 23 4\n2\n[]\n',
  ],
  [
    'readonly -a R=("a b" "$(echo c)"); echo "${R[0]}"; g() { declare -g G=("a b" "$1"); }; g v; echo "${G[1]}"',
    'a b\nv\n',
  ],
  ['x=(\'a b\' c); y=$(declare -p x); unset x; eval "$y"; echo "${x[0]}"', 'a b\n'],
  [
    'echo {1..20000} | wc -w; echo a{1..12000} | wc -w; echo {01..3} {-01..1} {5..1..2}',
    '20000\n12000\n01 02 03 -01 000 001 5 3 1\n',
  ],
  ['n=0; for i in {1..400}; do for j in {1..300}; do n=$((n+1)); done; done; echo $n', '120000\n'],
  [
    'f() { cat <<EOF | tr a-z A-Z\nhello $1\nEOF\nwhile read -r l; do echo "<$l>"; done <<\'Q\'\n$x\nQ\n}; declare -f f > d; type f | tail -n +2 > t; unset -f f; . ./d; f w; . ./t; f v',
    'HELLO W\n<$x>\nHELLO V\n<$x>\n',
  ],
  ['trap \'echo "line $LINENO"\' ERR\nfalse\nf() {\n  false\n}\nf', 'line 2\nline 6\n'],
  ['X=1 bash -c env | grep ^X=; X=2 bash -c \'bash -c "echo \\$X"\'; echo "[$X]"', 'X=1\n2\n[]\n'],
  [
    'umask; (umask 077; umask -S; > x; mkdir -p y/z; touch w; echo 1 >> v; stat -c %a x y/z w v); umask; > q; stat -c %a q',
    '0022\nu=rwx,g=,o=\n600\n700\n600\n600\n0022\n644\n',
  ],
  [
    'umask u=rwx,g=rx,o=; umask; : > c; tee t < /dev/null; stat -c %a c t; umask 9; umask',
    '0027\n640\n640\nbash: umask: 9: octal number out of range\n0027\n',
  ],
]

test('arrays in declarations, ranges, functions as text and the mask of new files are as in bash', async () => {
  for (const [script, output] of VALUES) expect([script, (await run(script)).output]).toEqual([script, output])
})

test('text that would keep the parser busy for minutes is refused at once, wherever it comes from', async () => {
  const refusal = /^bash: the script is not run: it has (so many|more than)/
  const endless = ['{', '[', '@(', '((', '$(', '{[@(', '[]', ',[]', '[:', '{"a":['].map((part) =>
    part.repeat(100_000 / part.length),
  )
  for (const script of endless) {
    expect([script.slice(0, 10), await run(script)]).toEqual([
      script.slice(0, 10),
      expect.objectContaining({ exitCode: 2, output: expect.stringMatching(refusal) }),
    ])
  }
  const fs = new MemoryFileSystem()
  await fs.write('/workspace/f', new TextEncoder().encode('['.repeat(50_000)))
  const scripts = [
    '. ./f',
    'eval "$(cat f)"',
    'sh -c "$(cat f)"',
    'bash f',
    'bash < f',
    'trap "$(cat f)" EXIT',
    'xargs -a f sh -c',
  ]
  for (const script of scripts) {
    const { output } = await run(script, fs)
    expect([script, output]).toEqual([script, expect.stringMatching(refusal)])
  }
})

test('large scripts that are well formed are run', async () => {
  const records = Array.from({ length: 3500 }, (_, id) => ({
    id,
    name: `it's "x" [${id % 300 ? '' : '{'}`,
    tags: ['a', 'b'],
    at: { p: [1, [2]] },
  }))
  const json = JSON.stringify(records)
  const numbers = Array.from({ length: 8000 }, (_, i) => i)
  const large: readonly [script: string, output: string][] = [
    [`cat > a <<'EOF'\n${json}\n${JSON.stringify(records, null, 1)}\nEOF\ntail -n 1 a`, ']\n'],
    [`cat > a <<EOF\n${json}\nEOF\nwc -l < a`, '1\n'],
    [`x="$(cat <<'EOF'\n${json.slice(0, 200_000)}\nEOF\n)"; echo "\${#x}"; x=`, '200000\n'],
    [`case a7b in\n${numbers.map((i) => `  a${i}b|[b-c]${i}) echo ${i} ;;`).join('\n')}\nesac`, '7\n'],
    [`a=(${numbers.map((i) => `[${i}]=v${i}`).join(' ')}); echo "\${#a[@]}"`, '8000\n'],
    [`: '${'€'.repeat(700_000)}'; echo long`, 'long\n'],
  ]
  for (const [script, output] of large)
    expect([script.slice(0, 30), (await run(script)).output]).toEqual([script.slice(0, 30), output])
})

test('what could grow or search without end ends within the limits', async () => {
  const many = "x=$(printf 'a%.0s' {1..1000}); "
  const scripts: readonly [script: string, output: string | RegExp][] = [
    [`touch ${'a'.repeat(60)}; echo *a*a*a*a*a*a*b`, '*a*a*a*a*a*a*b\n'],
    [
      `${many}case $x in *a*a*a*a*a*a*b) echo y;; *) echo n;; esac; y=\${x%%*a*a*a*a*b}; echo \${#y}; y=\${x//a*a*b/}; echo \${#y}`,
      'n\n1000\n1000\n',
    ],
    [`${many}[[ \${x}b =~ ^(a+)+$ ]]; echo $?; [[ \${x}b =~ ^(a|aa)+$ ]]; echo $?`, '1\n1\n'],
    ['echo {1..100000000}', /more than 100000 words/],
    [`echo ${'{a,b}'.repeat(25)}`, /more than 100000 words/],
    ['echo q{1..100000000}', /more than 100000 words/],
    ["printf '%1000000000d' 1", /a width or a precision over 10000000 is not available here/],
    [`${many}for i in 1 2 3; do x=\${x//a/$x}; done`, /limit exceeded/],
    ["x=$(printf '(%.0s' {1..20000}); echo $((x))", /recursion level/],
    [`x=; for i in {1..150}; do x="\\$(echo \\"$x\\")"; done; eval "echo $x"`, /nesting limit exceeded/],
  ]
  for (const [script, output] of scripts) {
    const result = await run(script)
    expect([script, result.output]).toEqual([
      script,
      typeof output === 'string' ? output : expect.stringMatching(output),
    ])
    expect([script, result.timedOut]).toEqual([script, false])
  }
})

function run(script: string, fs = new MemoryFileSystem()) {
  return runScript({ fs, script, cwd: '/workspace', env: {} })
}
test('a substitution that stands in a value is not run, however it is read as an expression, and that is said', async () => {
  const made = 'a[$(touch pwned)]'
  const scripts = [
    `declare -i n='${made}'`,
    `declare -i n; n='${made}'`,
    `declare -i n; n+='${made}'`,
    `f() { local -i n=$1; }; f '${made}'`,
    `[[ '${made}' -eq 1 ]]`,
    `y='${made}'; [[ -v $y ]]`,
    `y='${made}'; test -v "$y"`,
    `y='${made}'; z[y]=1`,
    `y='${made}'; x=(1); echo \${x[y]}`,
    `y='${made}'; s=hello; echo \${s:y}`,
    `read y <<< '${made}'; echo $((y))`,
    `echo '${made}' | while read y; do ((y)); done`,
    `y=b; b='${made}'; echo $((y))`,
    `let 'x=${made}'`,
    `printf -v '${made}' x`,
    `unset '${made}'`,
    `y='${made}'; echo \${!y}`,
    "[[ 'a[`touch pwned`]' -eq 1 ]]",
    "y='$(touch pwned)'; echo $((y))",
    "read -r PS4 <<< '$(touch pwned)'; set -x; true",
    "for PS4 in '`touch pwned`'; do set -x; true; done",
    "PS4='$((a[$(touch pwned)]))'; set -x; true",
  ]
  for (const script of scripts) {
    const fs = new MemoryFileSystem()
    const { output } = await runScript({ fs, script, cwd: '/', env: {} })
    expect([script, output, fs.exists('/pwned')]).toEqual([
      script,
      expect.stringMatching(/stands in a value is not run|bad substitution/),
      false,
    ])
  }
})

test('a substitution that is written in a script runs wherever it stands', async () => {
  const made = '$(touch made; echo 1)'
  const scripts = [
    `echo $(( ${made} + 1 ))`,
    `x[${made}]=2`,
    `x=(1 2); echo \${x[${made}]}`,
    `s=hello; echo \${s:${made}}`,
    `[[ ${made} -gt 0 ]]`,
    `declare -i n=${made}`,
    `let "x = ${made} + 1"`,
    `declare -A m; m[${made}]=1`,
    `for ((i=${made}; i<1; i++)); do :; done`,
    `eval 'echo $(( ${made} ))'`,
    `bash -c 'echo $(( ${made} ))'`,
    `echo 'echo $(( ${made} ))' > x.sh; . ./x.sh`,
    `trap 'echo ${made}' EXIT`,
    `f() { echo $(( ${made} )); }; f`,
    `shopt -s expand_aliases\nalias foo='echo ${made}'\nfoo`,
    'echo $(( `touch made; echo 1` ))',
    `cat <<E\n${made}\nE`,
  ]
  for (const script of scripts) {
    const fs = new MemoryFileSystem()
    const { output } = await runScript({ fs, script, cwd: '/', env: {} })
    expect([script, fs.exists('/made'), output]).toEqual([script, true, expect.not.stringContaining('not run here')])
  }
})
