import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  hasNext,
  linkTo,
  mergedBy,
  orderedBranches,
  pageOf,
  type Repository,
} from '../../../src/git-providers/provider.ts'
import {
  isFilePath,
  isRepositoryName,
  microagentFolders,
  microagentsAmong,
  readSearch,
  withoutDomain,
} from '../../../src/git-providers/repository-names.ts'

test('a name leads nowhere but to a repository, whatever stands in it', () => {
  for (const good of ['a/b', 'a/.bellwether', 'group/sub/deep/x', 'a-b_c.d/e', '组/项目']) {
    expect([good, isRepositoryName(good)]).toEqual([good, true])
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      if (!isRepositoryName(text)) return
      const path = new URL(`http://host/repos/${text}/branches`).pathname
      expect(decodeURIComponent(path)).toBe(`/repos/${text}/branches`)
    }),
  )
  for (const bad of [
    '',
    'a',
    '/a',
    'a/',
    'a//b',
    'a/..',
    '../b',
    './b',
    'a/b?c',
    'a/b#c',
    'a b/c',
    'a\\b/c',
    'a/%2e%2e',
  ]) {
    expect([bad, isRepositoryName(bad)]).toEqual([bad, false])
  }
  for (const bad of ['', '/a', 'a/../b', '..', 'a//b', 'a\\b', 'a\n', 'a/.']) {
    expect([bad, isFilePath(bad)]).toEqual([bad, false])
  }
  expect(isFilePath('.bellwether/microagents/a b.md')).toBe(true)
  expect(withoutDomain('github.com/a/b', 'github.com')).toEqual({ name: 'a/b', isNamed: true })
  expect(withoutDomain('my.group/a/b', 'gitlab.com')).toEqual({ name: 'my.group/a/b', isNamed: false })
})

test('a search is an address of this host, one of another, an owner with a name, or words', () => {
  expect(readSearch(' https://GitHub.com/a/b/pull/3 ', 'github.com')).toEqual({ kind: 'exact', repository: 'a/b' })
  expect(readSearch('https://github.com.evil.test/a/b', 'github.com')).toEqual({ kind: 'elsewhere' })
  expect(readSearch('https://github.com/a', 'github.com')).toEqual({ kind: 'elsewhere' })
  expect(readSearch('g/s/name', 'gitlab.com')).toEqual({ kind: 'owned', owner: 'g/s', name: 'name' })
  expect(readSearch('two words', 'gitlab.com')).toEqual({ kind: 'text', text: 'two words' })
})

test('branches: main and master, then by the moment of the last push whatever its zone, undated ones last', () => {
  const branch = (name: string, pushedAt: string | null) => ({ name, sha: 's', isProtected: false, pushedAt })
  const ordered = orderedBranches([
    branch('undated', null),
    branch('early', '2025-01-01T00:00:00+02:00'),
    branch('late', '2024-12-31T23:30:00Z'),
    branch('main', null),
    branch('master', '2020-01-01T00:00:00Z'),
  ])
  expect(ordered.map(({ name }) => name)).toEqual(['master', 'main', 'late', 'early', 'undated'])
})

test('the pages of a list, joined, are the list, and only the last one has no next', () => {
  const repository = (index: number): Repository => ({
    ...{ id: `${index}`, fullName: `a/${index}`, provider: 'github', isPublic: true, stars: null, link: null },
    ...{ pushedAt: null, ownerType: null, mainBranch: null, sortKey: String(index).padStart(4, '0') },
  })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 25 }), (count, perPage) => {
      const all = mergedBy('full_name', [Array.from({ length: count }, (_, index) => repository(count - index))])
      const joined: string[] = []
      for (let page = 1; ; page++) {
        const shown = pageOf(all, 'http://host/list', { page, perPage })
        joined.push(...shown.map(({ id }) => id))
        const link = shown[0]?.link ?? ''
        expect(shown.every((item) => item.link === link)).toBe(true)
        if (!hasNext(link)) break
        expect(link).toBe(linkTo('http://host/list', { page, perPage }))
      }
      expect(joined).toEqual(all.map(({ id }) => id))
    }),
  )
})

test('special repositories keep microagents at their root, all others in the hidden directories', () => {
  const hidden = ['.one', '.two']
  for (const name of ['a/.one', 'a/one-config', 'g/s/.two', 'A/Two-Config']) {
    expect([name, microagentFolders(name, hidden)]).toEqual([name, ['microagents']])
  }
  for (const name of ['a/one', 'a/config', 'a/x.one', 'one-config/x', 'a/.one-config']) {
    expect([name, microagentFolders(name, hidden)]).toEqual([name, ['.one/microagents', '.two/microagents']])
  }
  expect(microagentsAmong('f', ['f/a.md', 'f/README.md', 'f/sub/b.md', 'f/c.txt'])).toEqual([
    { name: 'a', path: 'f/a.md', key: 'a.md' },
    { name: 'b', path: 'f/sub/b.md', key: 'sub/b.md' },
  ])
})
