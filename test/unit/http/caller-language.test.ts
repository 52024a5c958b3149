import { expect, test } from 'vitest'
import { acceptedLanguage, type CallerLanguage } from '../../../src/http/caller-language.ts'

test('of the languages that a header names the one with the most weight counts, and the first of those that weigh as much', () => {
  const cases: [header: string, language: CallerLanguage | null][] = [
    ['', null],
    ['fr', null],
    ['*', null],
    ['ko', 'ko'],
    ['KO-kr', 'ko'],
    ['zh-Hans-CN', 'zh'],
    // What only begins like one of ours is another one.
    ['eng', null],
    ['zha,kok;q=0.9', null],
    ['en;q=0.8', 'en'],
    ['en;q=0.8,ko;q=0.9', 'ko'],
    ['en;q=0.8,ko', 'ko'],
    ['en,ko;q=1', 'en'],
    ['ko;q=0.5,en;q=0.5', 'ko'],
    ['fr,de;q=0.9,zh;q=0.1', 'zh'],
    [' en ; q=0.3 , ko ; q=0.4 ', 'ko'],
    ['en;level=1;q=0.2,ko;q=0.3', 'ko'],
    // A weight of nought says that it is not wanted, and one that is no number says nothing.
    ['en;q=0', null],
    ['en;q=0,ko;q=0.1', 'ko'],
    ['en;q=x', null],
    ['en;q=', null],
    ['en;q=-1,zh;q=0.001', 'zh'],
  ]
  expect(cases.map(([header]) => [header, acceptedLanguage(header)])).toEqual(cases)
})
