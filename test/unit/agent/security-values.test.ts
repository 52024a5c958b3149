// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.
// What a name may stand for counts wherever it is used: a variable of the shell with each of its values, a function of a program without a call.

import { expect, test } from 'vitest'
import { RISK } from '../../../src/agent/security/bench.ts'
import { loadScriptJudge } from '../../../src/agent/security/script-judge.ts'

const verdict = await loadScriptJudge()
const judge = (script: string) => verdict(script, { secretNames: [] }).risk
const { low, medium, high } = RISK

test('of a variable that may have several values each one counts, wherever it is used', () => {
  // The second value is the dangerous one; `b` alone is nothing.
  const uses = [
    'cat $x',
    'cat < $x',
    'cat <<< "$(< $x)"',
    'for f in $x; do cat $f; done',
    'y=$x; cat $y',
    'y=a; y=$x; z=$y; cat $z',
    'export y=$x; cat $y',
    'a=($x); cat ${a[0]}',
    'a=(c $x); cat "${a[@]}"',
    ': ${y:=$x}; cat $y',
    'printf -v y %s $x; cat $y',
    'f() { cat $1; }; f $x',
    '{ cat; } < $x',
    '( cat ) < $x',
    'while read -r line; do echo $line; done < $x',
    'if true; then cat; fi < $x',
    'f() { cat; } < $x; f',
  ]
  for (const use of uses) {
    const scripts = [`x=.env; ${use}`, `x=b; x=.env; ${use}`, `x=.env; x=b; ${use}`]
    expect([use, scripts.map((script) => judge(script)), judge(`x=b; ${use}`)]).toEqual([use, [high, high, high], low])
  }
  expect(judge('x=b; x=.e; x+=nv; cat $x')).toBe(high)
  expect(judge('x=a; x+=b; y=$x; cat $y')).toBe(low)
  // What is written to, and what is run, by a command of several others too.
  for (const write of ['echo a > $x', '{ echo a; } > $x', '( echo a ) >> $x', 'if true; then echo a; fi > $x']) {
    const scripts = [`x=.git/config; ${write}`, `x=b; x=.git/config; ${write}`]
    expect([write, scripts.map((script) => judge(script)), judge(`x=b; ${write}`)]).toEqual([write, [high, high], low])
  }
  expect(judge(`x=ls; x='rm -rf src'; { bash; } <<< $x`)).toBe(high)
  expect(judge(`x=ls; x='rm -rf src'; bash <<< $x`)).toBe(high)
  expect(judge(`x=1; x='a[$(rm -rf src)]'; [[ $x -eq 1 ]]`)).toBe(high)
})

test('files of several names that loops within loops read make a script no more complex', () => {
  const body = Array.from({ length: 20 }, (_, i) => `echo "$line ${i}"`).join('\n')
  const names = Array.from({ length: 6 }, (_, i) => `f=a${i}.txt`).join('\n')
  const nested = (script: string) => `while read -r line; do\n${script}\ndone < "$f"`
  const deep = nested(nested(nested(nested(body))))
  expect([judge(`${names}\n${deep}`), judge(`f=.env\n${names}\n${deep}`)]).toEqual([low, high])
})

test('a function that deletes counts where a program takes it from its module, and a word that is called like it does not', () => {
  const cases: [program: string, risk: number][] = [
    ["require('fs').rm('a')", medium],
    ["rm?.('a')", medium],
    ['f(fs.rm)', medium],
    ['f(fs?.truncate)', medium],
    ["const { rm } = require('fs'); f(rm)", medium],
    ["const { rm: go } = require('fs'); go('a')", medium],
    ["const { cp, rmdir } = require('fs'); f(rmdir)", medium],
    ["require('fs').rm('a', { recursive: true })", high],
    ['const rm = 1; console.log(rm)', low],
    ['f(1 + truncate)', low],
    ["require('fs').open('a', 'r')", low],
  ]
  const told = cases.map(([program]) => [program, judge(`node -e ${JSON.stringify(program)}`)])
  expect(told).toEqual(cases)
})

test('no value is forgotten without a word: what is more than can be looked at is too much, but for numbers', () => {
  const values = (count: number) => Array.from({ length: count }, (_, i) => `x=v${i}; `).join('')
  for (const before of [5, 6, 7, 31]) expect([before, judge(`${values(before)}x=.env; cat $x`)]).toEqual([before, high])
  expect(judge(`${values(32)}cat $x`)).toBe(low)
  expect(judge(`${values(33)}cat $x`)).toBe(high)
  expect(judge(`${values(40)}x=.env; cat $x`)).toBe(high)
  const numbers = Array.from({ length: 200 }, (_, i) => i).join(' ')
  expect(judge(`for i in ${numbers}; do echo $i; done`)).toBe(low)
  expect(judge(`f() { echo "$1"; }; ${Array.from({ length: 200 }, (_, i) => `f ${i}`).join('; ')}`)).toBe(low)
  expect(judge(`x=${'a'.repeat(20_001)}; echo $x`)).toBe(high)
})
