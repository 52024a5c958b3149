// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { expect, test } from 'vitest'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

const run = (script: string, fs = new MemoryFileSystem()) => runScript({ fs, script, cwd: '/workspace', env: {} })

test('what needs a machine says so in one line and ends with 127, and nothing claims that it is there', async () => {
  const advice = 'not available here: the embedded shell has no processes. '
  for (const name of [
    'python3',
    'python3.12',
    'pip',
    'npm',
    'npx',
    'make',
    'gcc',
    'docker',
    'cargo',
    'go',
    'apt-get',
  ]) {
    const { output, exitCode } = await run(`${name} --version`)
    expect([name, exitCode, output.startsWith(`${name}: ${advice}`), output.trimEnd().includes('\n')]).toEqual([
      name,
      127,
      true,
      false,
    ])
    expect((await run(`which ${name} || command -v ${name} || type ${name} 2>/dev/null || echo absent`)).output).toBe(
      'absent\n',
    )
  }
  const ways = [
    'env python3 x',
    'xargs python3 <<< x',
    'timeout 5 python3 x',
    '/usr/bin/python3 x',
    'command python3 x',
    './x.py',
  ]
  for (const way of ways) {
    const { output, exitCode } = await run(
      `printf '#!/usr/bin/env python3\\nprint(1)\\n' > x.py; chmod +x x.py; ${way}`,
    )
    expect([way, exitCode, output]).toEqual([
      way,
      127,
      `python3: ${advice}Use node, or connect a runner, which runs it on a real machine.\n`,
    ])
  }
  expect(await run('nothere; python3 2>/dev/null | cat; echo "${PIPESTATUS[0]}"')).toMatchObject({
    output: 'bash: nothere: command not found\n127\n',
  })
})

test('a script file runs by the program that its first line names, in a shell of its own', async () => {
  const outcome = await run(`hidden=1; export SEEN=2
printf '#!/bin/sh\\necho "$hidden[$SEEN] $0 $# $10"\\n' > s; printf '#!/bin/cat\\nas it is\\n' > c; printf '#!/opt/none\\n' > n
chmod +x s c n; ./s 1 2 3 4 5 6 7 8 9 "te n"; ./c; ./n; echo $?; mkdir d; ./d; echo $?; PATH=$PWD:$PATH; s`)
  expect(outcome.output).toBe(
    '[2] ./s 10 10\n#!/bin/cat\nas it is\nbash: ./n: cannot execute: required file not found\n127\n' +
      'bash: ./d: Is a directory\n126\n[2] /workspace/s 0 0\n',
  )
})

test('a child shell shows what it writes as it comes, unless its output is caught', async () => {
  const parts: string[] = []
  const fs = new MemoryFileSystem()
  const script = `printf 'for i in 1 2; do echo $i; done\\necho err >&2\\n' > s.sh
bash s.sh; x=$(bash s.sh 2>/dev/null); echo "[$x]"; bash s.sh 2>&1 | wc -l; bash s.sh > out 2>&1; f() { echo a; bash s.sh; }; f`
  const { output } = await runScript({ fs, script, cwd: '/workspace', env: {}, onProgress: (text) => parts.push(text) })
  expect(output).toBe('1\n2\nerr\n[1\n2]\n3\na\n1\n2\nerr\n')
  expect(parts.slice(0, 3)).toEqual(['1\n', '2\n', 'err\n'])
})

test('options that a shell cannot have are named', async () => {
  expect((await run('bash -Z -c true')).output).toBe('bash: -Z: option is not available here\n')
  expect((await run('bash --rcfile x -c true')).output).toBe('bash: --rcfile: option is not available here\n')
  expect(await run('bash -o nonsense -c true')).toMatchObject({ exitCode: 2 })
  expect(await run('wait -q x')).toMatchObject({
    exitCode: 2,
    output: 'bash: wait: -q: invalid option\nwait: usage: wait [-fn] [-p var] [id ...]\n',
  })
})
