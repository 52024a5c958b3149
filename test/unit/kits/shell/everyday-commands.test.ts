// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { expect, test } from 'vitest'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

/** What GNU's tools write for the same words, but for times. */
async function shell(): Promise<(script: string) => Promise<string>> {
  const fs = new MemoryFileSystem()
  const run = async (script: string) => (await runScript({ fs, script, cwd: '/workspace', env: {} })).output
  await run(
    "mkdir -p src empty; printf 'hello\\nwörld\\n' > src/a.txt; printf 'x=1\\n' > b.ini; ln -s src/a.txt link; echo n > 'two words'; touch .hidden",
  )
  return run
}

test('ls lists as elsewhere: links as links, hidden ones when asked, operands before folders, each kind of order', async () => {
  const run = await shell()
  expect(await run('chmod 750 b.ini; ls -la --color=auto | sed -E "s/[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{5}/TIME/"')).toBe(
    `total 24
drwxr-xr-x 4 user user 4096 TIME .
drwxr-xr-x 8 user user 4096 TIME ..
-rw-r--r-- 1 user user    0 TIME .hidden
-rwxr-x--- 1 user user    4 TIME b.ini
drwxr-xr-x 2 user user 4096 TIME empty
lrwxrwxrwx 1 user user    9 TIME link -> src/a.txt
drwxr-xr-x 2 user user 4096 TIME src
-rw-r--r-- 1 user user    2 TIME two words
`,
  )
  expect(await run('ls; ls -A | head -1; ls -F; ls -d src/ empty; ls -rd b* l*; ls src/a.txt b.ini')).toBe(
    'b.ini\nempty\nlink\nsrc\ntwo words\n.hidden\nb.ini*\nempty/\nlink@\nsrc/\ntwo words\nempty\nsrc/\nlink\nb.ini\nb.ini\nsrc/a.txt\n',
  )
  expect(await run('ls b.ini src nothere; echo $?; ls -R')).toBe(
    "b.ini\n\nsrc:\na.txt\nls: cannot access 'nothere': No such file or directory\n2\n" +
      '.:\nb.ini\nempty\nlink\nsrc\ntwo words\n\n./empty:\n\n./src:\na.txt\n',
  )
  expect(
    await run("touch -d '2020-01-01' old; ls -t | tail -1; ls -l old; ls -lS | sed -n 2p | cut -d' ' -f5-"),
  ).toMatch(/^old\n-rw-r--r-- 1 user user 0 Jan {2}1 {2}2020 old\n4096 .* empty\n$/)
  expect(
    await run('head -c 1500 /dev/zero > big; ls -sh; ls -lh big | cut -d" " -f5; ls --group-directories-first'),
  ).toBe(
    'total 20K\n4.0K b.ini\n4.0K big\n4.0K empty\n   0 link\n   0 old\n4.0K src\n4.0K two words\n1.5K\nempty\nsrc\nb.ini\nbig\nlink\nold\ntwo words\n',
  )
  expect(await run('ln -s src folder; ls folder; ls -d folder; ln -s nowhere broken; ls broken; ls -L broken')).toBe(
    "a.txt\nfolder\nbroken\nls: cannot access 'broken': No such file or directory\n",
  )
})

test('date and all that shows a time go by the clock of the zone, east and west of UTC and in summer', async () => {
  const run = await shell()
  const shown = (zone: string, seconds: number) => run(`TZ=${zone} date -d @${seconds} '+%F %T %z %:z %::z %Z %s'`)
  expect(await shown('Asia/Kolkata', 1_711_846_800)).toBe('2024-03-31 06:30:00 +0530 +05:30 +05:30:00 IST 1711846800\n')
  expect(await shown('America/New_York', 1_711_846_800)).toBe(
    '2024-03-30 21:00:00 -0400 -04:00 -04:00:00 EDT 1711846800\n',
  )
  expect(await shown('America/New_York', 1_704_067_200)).toBe(
    '2023-12-31 19:00:00 -0500 -05:00 -05:00:00 EST 1704067200\n',
  )
  expect(await shown('UTC', 1_711_846_800)).toBe('2024-03-31 01:00:00 +0000 +00:00 +00:00:00 UTC 1711846800\n')
  const others = `touch -d @1711846800 old; stat -c %y old; ls --full-time old | cut -d' ' -f6-8
printf '%(%F %T %z)T\\n' 1711846800; awk 'BEGIN { print strftime("%F %T %z", 1711846800) }'`
  const everywhere = (time: string, zone: string) => {
    const exact = `${time}.000000000 ${zone}\n`
    return exact + exact + `${time} ${zone}\n`.repeat(2)
  }
  expect(await run(`export TZ=Asia/Kolkata; ${others}`)).toBe(everywhere('2024-03-31 06:30:00', '+0530'))
  expect(await run(`export TZ=America/New_York; ${others}`)).toBe(everywhere('2024-03-30 21:00:00', '-0400'))
})

test('ls says which option it does not take: unknown, unclear, with a value too many or too few', async () => {
  const run = await shell()
  const refused = async (words: string, problem: string) =>
    expect(await run(`ls ${words}; echo $?`)).toBe(`ls: ${problem}\nTry 'ls --help' for more information.\n2\n`)
  await refused('--bogus', "unrecognized option '--bogus'")
  await refused('-y', "invalid option -- 'y'")
  await refused('--sort', "option '--sort' requires an argument")
  await refused('--all=3', "option '--all' doesn't allow an argument")
  await refused('--gr=a', "option '--group-directories-first' doesn't allow an argument")
  await refused('-w', "option requires an argument -- 'w'")
})

test('a copy onto itself is refused under whatever name', async () => {
  const run = await shell()
  expect(await run('cp b.ini ./b.ini; cp b.ini src/../b.ini; echo $?; cat b.ini')).toBe(
    "cp: 'b.ini' and './b.ini' are the same file\ncp: 'b.ini' and 'src/../b.ini' are the same file\n1\nx=1\n",
  )
  expect(await run('cp src/a.txt link; echo $?; cp link src/a.txt; cp b.ini src/a.txt; echo $?; cat link')).toBe(
    "cp: 'src/a.txt' and 'link' are the same file\n1\ncp: 'link' and 'src/a.txt' are the same file\n0\nx=1\n",
  )
})

test('each line, character, byte and place is where it is elsewhere', async () => {
  const run = await shell()
  expect(await run('seq 7 > n; split -n r/3 n p.; paste -sd " " p.aa; paste -sd " " p.ab; paste -sd " " p.ac')).toBe(
    '1 4 7\n2 5\n3 6\n',
  )
  const encoded = (encoding: string) => run(`printf 'hé€😀' | iconv -f utf-8 -t ${encoding} | od -An -tx1 -v -w64`)
  expect(await encoded('UTF-32BE')).toBe(' 00 00 00 68 00 00 00 e9 00 00 20 ac 00 01 f6 00\n')
  expect(await encoded('UTF-32LE')).toBe(' 68 00 00 00 e9 00 00 00 ac 20 00 00 00 f6 01 00\n')
  expect(await encoded('UTF-16BE')).toBe(' 00 68 00 e9 20 ac d8 3d de 00\n')
  expect(await encoded('UTF-16LE')).toBe(' 68 00 e9 00 ac 20 3d d8 00 de\n')
  expect(await run("printf '\\0\\0\\0h\\0\\0\\x20\\xac' | iconv -f UTF-32BE -t utf-8")).toBe('h€')
  expect(await run('printf %070d 7 | xxd -p')).toBe(`${'30'.repeat(30)}\n${'30'.repeat(30)}\n${'30'.repeat(9)}37\n`)
  // Odd numbers are missing from the list, even ones up to 38 are in it.
  const places = Array.from({ length: 42 }, (_, i) => (i % 2 === 0 || i === 41 ? -1 - (i >> 1) : (i - 1) >> 1))
  expect(await run('jq -nc "[range(0;40;2)] as \\$a | [range(-1;41) | . as \\$x | \\$a | bsearch(\\$x)]"')).toBe(
    `${JSON.stringify(places)}\n`,
  )
  expect(await run(`jq -n '"ab" | reverse'; echo $?`)).toContain('Cannot index string with number')
  expect(await run(`awk 'BEGIN { print 0 ${'- -1 '.repeat(450)}}'`)).toBe('450\n')
  expect(await run('sdiff -o out n n; echo $?')).toMatch(/^sdiff: -o: nobody can be asked here; .*\n2\n$/)
  expect(await run('realpath -q nothere/x; echo $?; realpath --quiet nothere/x; echo $?')).toBe('1\n1\n')
  expect(
    await run('readlink -v n; readlink -v -q n; readlink -v --quiet n; readlink -vs n; readlink -q -v n; echo $?'),
  ).toBe('readlink: n: Invalid argument\nreadlink: n: Invalid argument\n1\n')
  expect(
    await run('[ $(find n -printf %i) = $(ls -i n | cut -d" " -f1) ] && find src -name a.txt -printf "%h %f\\n"'),
  ).toBe('src a.txt\n')
})

test('xargs splits, quotes, replaces and counts as elsewhere, and tells how its commands ended', async () => {
  const run = await shell()
  expect(
    await run("echo a b c | xargs -n2; seq 3 | xargs -I{} echo 'n={}'; ls | xargs -I % echo '[%]' | tail -1"),
  ).toBe('a b\nc\nn=1\nn=2\nn=3\n[two words]\n')
  expect(await run('find . -type f -print0 | xargs -0 cat; echo "\'a b\' c\\\\ d" | xargs -n 1 echo')).toBe(
    'x=1\nhello\nwörld\nn\na b\nc d\n',
  )
  expect(
    await run("printf 'a,b' | xargs -d, -L1 echo; printf 'a b\\nc\\n' | xargs -L 1 echo; echo x | xargs -t -P4 echo"),
  ).toBe('a\nb\na b\nc\nx\necho x\n')
  expect(await run("printf '' | xargs -r echo no; printf '' | xargs echo once; echo \"it's\" | xargs; echo $?")).toBe(
    'once\nxargs: unmatched single quote; by default quotes are special to xargs unless you use the -0 option\n1\n',
  )
  expect(
    await run('echo a | xargs false; echo $?; echo a | xargs nope; echo $?; echo a | xargs sh -c "exit 255"; echo $?'),
  ).toBe('123\nxargs: nope: No such file or directory\n127\nxargs: sh: exited with status 255; aborting\n124\n')
  expect(await run('echo a | xargs -Z echo; echo x | A=5 xargs sh -c \'echo "$A $0"\'')).toBe(
    "xargs: invalid option -- 'Z'\nTry 'xargs --help' for more information.\n5 x\n",
  )
})

test('env gives a command the variables that it sets, a shell included, and takes others away', async () => {
  const run = await shell()
  expect(await run("env A='b c' bash -c 'echo [$A]'; A=3 env sh -c 'echo $A'; echo in | env B=1 cat; echo [$A]")).toBe(
    '[b c]\n3\nin\n[]\n',
  )
  expect(await run('export C=1; env -u C printenv C; env C=2 D=3 | grep ^[CD]; env -i E=1; env -i')).toBe(
    'C=2\nD=3\nE=1\n',
  )
  expect(await run('env -C / pwd; env -v pwd; echo $?; env nope; echo $?')).toBe(
    "/\nenv: option -v is not available here\nTry 'env --help' for more information.\n125\nenv: ‘nope’: No such file or directory\n127\n",
  )
})

test('sed keeps the copy that it is asked to keep, and printf writes the bytes that it is asked to write', async () => {
  const run = await shell()
  expect(
    await run(
      "sed -i.bak 's/1/2/' b.ini; cat b.ini b.ini.bak; sed -E --in-place=.o -e 's/(2)/\\13/' b.ini src/a.txt; ls . src",
    ),
  ).toBe('x=2\nx=1\n.:\nb.ini\nb.ini.bak\nb.ini.o\nempty\nlink\nsrc\ntwo words\n\nsrc:\na.txt\na.txt.o\n')
  expect(
    await run("sed -i 's/x/y/' b.ini; cat b.ini b.ini.o; sed -i.q 's/' b.ini 2> /dev/null; ls *.q 2> /dev/null"),
  ).toBe('y=23\nx=2\n')
  expect(
    await run(
      "printf '\\351' | wc -c; printf '\\xc3\\xa9\\n'; printf '\\xff\\x00A' > bin; wc -c < bin; cmp bin bin && echo same",
    ),
  ).toBe('1\né\n3\nsame\n')
  expect(
    await run(
      "printf '%b' '\\0351' | wc -c; printf '%s|\\101|\\u00e9\\n' '\\xe9'; printf -v v '\\x41'; echo $v; printf 'ä\\n'",
    ),
  ).toBe('1\n\\xe9|A|é\nA\nä\n')
})

test('small commands that scripts count on are there, and what cannot be says so', async () => {
  const run = await shell()
  expect(
    await run(
      'ln -s src folder; readlink -f folder/a.txt; readlink folder; rm folder; cd src; realpath a.txt ../link none; realpath -e none; ln -s gone dangling; realpath -e dangling; realpath no/ne',
    ),
  ).toBe(
    '/workspace/src/a.txt\nsrc\n/workspace/src/a.txt\n/workspace/src/a.txt\n/workspace/src/none\n' +
      'realpath: none: No such file or directory\nrealpath: dangling: No such file or directory\nrealpath: no/ne: No such file or directory\n',
  )
  expect(await run('f=$(mktemp); d=$(mktemp -d); stat -c %a $f $d; mktemp -p . x.XXXX --suffix=.t; mktemp x')).toMatch(
    /^600\n700\n\.\/x\.\w{4}\.t\nmktemp: too few X's in template ‘x’\n$/,
  )
  expect(await run('yes | head -2; yes no | head -1; uname; id -u; nproc; ls | less | head -1; more b.ini; jobs')).toBe(
    'y\ny\nno\nLinux\n1000\n1\nb.ini\nx=1\n',
  )
  expect(
    await run(
      'kill 12; echo $?; cmp b.ini src/a.txt; cmp -s b.ini link; echo $?; printf xy | tee p > q; printf x > q; cmp p q',
    ),
  ).toBe(
    'bash: kill: (12) - No such process\n1\nb.ini src/a.txt differ: byte 1, line 1\n1\ncmp: EOF on q after byte 1, in line 1\n',
  )
  expect(
    await run(
      'truncate -s 2 b.ini; cat b.ini; echo; truncate -s 1K n; wc -c < n; truncate n; grep -rn --color=auto wörld src/',
    ),
  ).toBe(
    "x=\n1024\ntruncate: you must specify either ‘--size’ or ‘--reference’\nTry 'truncate --help' for more information.\nsrc/a.txt:2:wörld\n",
  )
  const slashes =
    "printf 'dir/\\ndirs\\n' > src/s.txt; grep -rh -m 5 dir/ src/; grep -rh -e dir/ src/; grep -rl dirs src//"
  expect(await run(slashes)).toBe('dir/\ndir/\nsrc/s.txt\n')
})

test('diff writes both of its forms, compares folders, and takes files for the same as it is told to', async () => {
  const run = await shell()
  await run(`mkdir -p x/s y/s; seq 30 > x/n; seq 30 | sed '5s/5/five/;20d;$a 31' > y/n; echo o > x/only; echo p > y/s/p
printf 'no end' > x/e; printf 'no end\n' > y/e; printf '\\0\\1' > x/bin; printf '\\0\\2' > y/bin
touch -d '2020-01-01' x/* y/*`)
  const plain = '5c5\n< 5\n---\n> five\n20d19\n< 20\n30a30\n> 31\n'
  const unified =
    '--- x/n\t2020-01-01 00:00:00.000000000 +0000\n+++ y/n\t2020-01-01 00:00:00.000000000 +0000\n' +
    '@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n@@ -19,3 +19,2 @@\n 19\n-20\n 21\n@@ -30 +29,2 @@\n 30\n+31\n'
  expect(await run('diff x/n y/n; echo $?; diff -U1 x/n y; diff x/n x/n; echo $?; diff -s x/n x/n')).toBe(
    `${plain}1\n${unified}0\nFiles x/n and x/n are identical\n`,
  )
  expect(await run("diff -r -x 'n*' x y; echo $?; diff x y | sed -n '1p;$p'; diff -rqN x y")).toBe(
    "Binary files x/bin and y/bin differ\ndiff -r -x 'n*' x/e y/e\n1c1\n< no end\n\\ No newline at end of file\n---\n> no end\n" +
      'Only in x: only\nOnly in y/s: p\n1\nBinary files x/bin and y/bin differ\nCommon subdirectories: x/s and y/s\n' +
      'Files x/bin and y/bin differ\nFiles x/e and y/e differ\nFiles x/n and y/n differ\nFiles x/only and y/only differ\nFiles x/s/p and y/s/p differ\n',
  )
  expect(
    await run(
      'diff <(echo a) <(echo b); echo o | diff - x/only && echo same; diff -i <(echo A) <(echo a) && echo same',
    ),
  ).toBe('1c1\n< a\n---\n> b\nsame\nsame\n')
  expect(await run('diff x/n none; echo $?; diff --color=always x/n y/n; diff -u --label A --label B x/e y/e')).toBe(
    "diff: none: No such file or directory\n2\ndiff: option '--color=always' is not available here\n" +
      '--- A\n+++ B\n@@ -1 +1 @@\n-no end\n\\ No newline at end of file\n+no end\n',
  )
})

test('what a shell wrote before timeout stopped it is there, on the terminal and in a pipe', async () => {
  const run = await shell()
  const inner = `timeout 1 bash -c 'echo a; bash -c "echo b; sleep 60"; echo c'; echo $?`
  expect(await run(inner)).toBe('a\nb\n124\n')
  const file = `printf 'echo one\n(echo two; sleep 60)\necho three\n' > s.sh; timeout 1 bash s.sh; echo $?`
  expect(await run(file)).toBe('one\ntwo\n124\n')
  expect(await run(`timeout 1 bash -c 'echo a; sleep 60' | cat`)).toBe('a\n')
  expect(await run(`timeout 1 bash -c 'echo a; { echo b; sleep 60; }' | cat`)).toBe('a\nb\n')
})

test('line ends are changed in place or on the way, and what is nested too deeply is told in one line', async () => {
  const run = await shell()
  expect(
    await run(
      "printf 'a\\r\\nb\\r\\n' > w; dos2unix -q w; od -An -c w; unix2dos w; od -An -c w; printf 'x\\r\\n' | dos2unix | od -An -c; dos2unix -n w v; od -An -c v; dos2unix none; echo $?; dos2unix --no-such",
    ),
  ).toBe(
    '   a  \\n   b  \\n\nunix2dos: converting file w to DOS format...\n   a  \\r  \\n   b  \\r  \\n\n   x  \\n\n' +
      'dos2unix: converting file w to file v in Unix format...\n   a  \\n   b  \\n\n' +
      "dos2unix: none: No such file or directory\n2\ndos2unix: unrecognized option '--no-such'\nTry 'dos2unix --help' for more information.\n",
  )
  const open = "open=$(printf '%*s' 20000 '' | tr ' ' '('); close=$(printf '%*s' 20000 '' | tr ' ' ')')"
  const nested = [
    ['echo "${open}1${close}" | bc', 'bc'],
    ['awk "BEGIN { print ${open}1${close} }"', 'awk'],
    ['jq -n "${open}1${close}"', 'jq'],
    ["expr $(yes '(' | head -20000) 1", 'expr'],
    ["find . $(yes '(' | head -20000) -name x", 'find'],
    ['echo a | sed -E "s/${open}a${close}/b/"', 'sed'],
  ]
  for (const [command = ''] of nested) {
    const said = await run(`${open}; ${command} 2>&1; echo "[$?]"; unset open close`)
    expect(said, command).not.toMatch(/\.(ts|js):\d|^\s+at |RangeError/m)
    expect(said, command).toMatch(/^[^\n]{1,300}(\n[^\n]{0,100})?\n\[\d+\]\n$/)
  }
})

test('a word that is no number, and an option that is not known, are named', async () => {
  const run = await shell()
  expect(await run('factor x; echo $?; factor 12')).toBe('factor: ‘x’ is not a valid positive integer\n1\n12: 2 2 3\n')
  expect(await run('jq --nope . < b.ini; echo $?')).toMatch(/^jq: Unknown option: --nope\n[\s\S]*\n2\n$/)
})

test('Chinese is read in both names of its code, and parentheses may have tabs', async () => {
  const run = await shell()
  expect(await run(`for code in GBK CP936; do printf '\\304\\343\\272\\303\\n' | iconv -f $code -t UTF-8; done`)).toBe(
    '你好\n你好\n',
  )
  expect(await run('((\techo p\t)\t; echo q); if ((\t1\t<\t2\t)); then echo less; fi; echo $((\t1+\t2\t))')).toBe(
    'p\nq\nless\n3\n',
  )
})
