// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OWN, readTar, tarOf } from '../../../../src/kits/shell/commands/tar/format.ts'
import { runScript, workspaceCommands } from '../../../../src/kits/shell/index.ts'
import { CLOSED } from '../../../helpers/policies.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

type Web = (url: string, init: RequestInit) => Response | Promise<Response>

function open(web: Web = () => new Response('unasked', { status: 500 })) {
  const fs = new MemoryFileSystem()
  const fetched: string[] = []
  const fetch = (async (url: string, init: RequestInit) => {
    fetched.push(`${init.method} ${url}`)
    return web(url, init)
  }) as typeof globalThis.fetch
  const commands = workspaceCommands({ network: { policy: CLOSED, fetch, limits: { maxBytes: 1_000_000 } } })
  const run = (script: string, timeoutMs = 80_000) =>
    runScript({ fs, script, cwd: '/workspace', env: {}, commands, limits: { timeoutMs } })
  return {
    fs,
    fetched,
    run,
    out: async (script: string) => (await run(script)).output,
    write: (path: string, content: string | Uint8Array) =>
      fs.write(path, typeof content === 'string' ? new TextEncoder().encode(content) : content),
    read: async (path: string) => new TextDecoder().decode(await fs.read(path)),
  }
}

test('curl asks as it is told and shows, keeps or pipes what comes', async () => {
  const { out, read, fetched } = open(async (url, { method, headers, body }) => {
    const { pathname, search } = new URL(url)
    if (pathname === '/moved') return new Response('', { status: 302, headers: { location: '/there' } })
    if (pathname === '/missing') return new Response('no such page', { status: 404 })
    const sent = body ? await new Response(body).text() : ''
    return Response.json({
      method,
      pathname,
      search,
      auth: new Headers(headers).get('authorization'),
      type: new Headers(headers).get('content-type'),
      sent,
    })
  })
  expect(await out('curl -s https://example.com/a?b=1 | jq -r .pathname')).toBe('/a\n')
  expect(await out("curl -s -X PUT -H 'Authorization: Bearer t' -d a=1 -d b=2 example.com/x | jq -c .")).toBe(
    '{"method":"PUT","pathname":"/x","search":"","auth":"Bearer t","type":"application/x-www-form-urlencoded","sent":"a=1&b=2"}\n',
  )
  expect(await out("curl -s -u me:pw --json '{\"a\":1}' https://example.com | jq -r '.auth, .type, .sent'")).toBe(
    'Basic bWU6cHc=\napplication/json\n{"a":1}\n',
  )
  expect(await out("curl -sG --data-urlencode 'q=a b&c' https://example.com/s | jq -r .search")).toBe('?q=a+b%26c\n')
  expect(await out('echo data > f; curl -s -T f https://example.com/up | jq -r ".method, .sent"')).toBe('PUT\ndata\n\n')
  expect(
    await out(
      'curl -so out/deep/f --create-dirs -w "%{http_code}\\n" https://example.com/file; curl -sO https://example.com/name.json; ls',
    ),
  ).toBe('200\nf\nname.json\nout\n')
  expect(JSON.parse(await read('/workspace/out/deep/f'))).toMatchObject({ pathname: '/file' })
  expect(
    await out(
      'curl -sf https://example.com/missing; echo $?; curl -s https://example.com/missing; echo; curl -sS --fail-with-body https://example.com/missing',
    ),
  ).toBe('22\nno such page\nno such pagecurl: (22) The requested URL returned error: 404\n')
  fetched.length = 0
  expect(
    await out(
      'curl -sI https://example.com/moved | grep -v content-type | head -2; curl -sL https://example.com/moved | jq -r .pathname',
    ),
  ).toMatch(/^HTTP\/1\.1 302 Found\r\nlocation: \/there\r\n\/there\n$/)
  expect(fetched).toEqual([
    'HEAD https://example.com/moved',
    'GET https://example.com/moved',
    'GET https://example.com/there',
  ])
  expect(await out('curl; echo $?; curl --proxy x y; echo $?; curl -X "A B" https://example.com; echo $?')).toMatch(
    /^curl: no URL specified\n2\ncurl: option --proxy is not available here\n2\ncurl: \(2\) the method is malformed\n2\n$/,
  )
})

test('curl reaches no address that is not public, also not by a redirect', async () => {
  const { out, fetched } = open(
    () => new Response(null, { status: 301, headers: { location: 'http://169.254.169.254/latest' } }),
  )
  const addresses = [
    ...[
      'http://127.0.0.1/',
      'http://localhost:8787/',
      'http://[::1]/',
      'http://10.0.0.1',
      'http://192.168.1.1',
      'http://172.16.0.1',
    ],
    ...[
      'http://169.254.169.254/latest/meta-data',
      'http://metadata.google.internal/',
      'http://0x7f.1/',
      'http://2130706433/',
    ],
    ...[
      'http://017700000001/',
      'http://127.1/',
      'http://[::ffff:127.0.0.1]/',
      'http://a@127.0.0.1/',
      'http://example.com:22/',
    ],
    ...[
      'file:///etc/passwd',
      'gopher://example.com',
      'ftp://example.com',
      'http://127.0.0.1.nip.io/',
      'http://intranet/',
      'http://1。1。1。1/',
    ],
    ...[
      'http://example.com\\@127.0.0.1/',
      'http://0/',
      'http://[fd00::1]/',
      'http://100.64.0.1/',
      'http://printer.local',
    ],
  ]
  for (const address of addresses) {
    const output = await out(`curl -sS '${address}'; echo "code $?"`)
    expect([address, output]).toEqual([address, expect.stringMatching(/curl: \((7|3)\) .*\ncode (7|3)\n$/)])
  }
  // A request that names another host than its address has could lead a proxy anywhere.
  expect(await out(`curl -sS -H 'Host: localhost:8787' https://example.com/; echo $?`)).toBe(
    'curl: (2) the header Host is that of the address, and no other\n2\n',
  )
  expect(fetched).toEqual([])
  expect(await out('curl -sSL https://example.com/; echo $?')).toMatch(
    /169\.254\.169\.254 is not a public address \(the operator can allow .*\)\n7\n$/,
  )
  expect(fetched).toEqual(['GET https://example.com/'])
})

test('an endless answer is cut off at its limit, and one that never begins at the time limit', async () => {
  const endless = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }))
  expect(await open(endless).out('curl -sS https://example.com/; echo $?')).toBe(
    'curl: (63) The answer is larger than 1000000 bytes\n63\n',
  )
  const silent = () => new Promise<Response>(() => undefined)
  expect(await open(silent).out('curl -sS -m 0.2 https://example.com/; echo $?')).toBe(
    'curl: (28) The request took too long\n28\n',
  )
  const stopped = await open(silent).run('curl -sS https://example.com/; echo never', 200)
  expect([stopped.timedOut, stopped.output]).toEqual([true, expect.not.stringContaining('never')])
})

test('tar, gzip and zip take apart what they put together', async () => {
  const { out, fs, write, read } = open()
  const long = `${'long-name-'.repeat(15)}.txt`
  await out(
    `mkdir -p src/sub; echo one > src/one.txt; echo two > src/sub/two.txt; ln -s one.txt src/link; chmod 755 src/one.txt; echo x > src/${long}`,
  )
  await write(
    '/workspace/src/bytes',
    Uint8Array.from({ length: 2000 }, (_, i) => i % 256),
  )
  for (const [pack, unpack] of [
    ['tar czf /tmp/a.tgz src', 'tar -xzf /tmp/a.tgz'],
    ['tar -cf - src | gzip > /tmp/a.gz', 'zcat /tmp/a.gz | tar xf -'],
    [
      'tar cf /tmp/a.tar --exclude=nothing -C /workspace src && gzip -k /tmp/a.tar && rm /tmp/a.tar && gunzip /tmp/a.tar.gz',
      'tar xf /tmp/a.tar',
    ],
    ['zip -qry /tmp/a.zip src', 'unzip -qo /tmp/a.zip'],
  ]) {
    expect([
      pack,
      await out(
        `${pack}; mkdir -p /tmp/new && cd /tmp/new && ${unpack} && sums() { find . -type f | sort | xargs sha1sum; }; [ "$(cd src && sums)" = "$(cd /workspace/src && sums)" ] && echo same`,
      ),
    ]).toEqual([pack, 'same\n'])
    expect([fs.stat('/tmp/new/src/one.txt').mode & 0o777, fs.readLink('/tmp/new/src/link')]).toEqual([0o755, 'one.txt'])
    expect(await fs.read('/tmp/new/src/bytes')).toEqual(await fs.read('/workspace/src/bytes'))
    expect(await read(`/tmp/new/src/${long}`)).toBe('x\n')
    await out('rm -rf /tmp/new')
  }
  expect(
    await out(
      'tar tf /tmp/a.tgz | sort | head -3; tar xzf /tmp/a.tgz -C /tmp --strip-components=1 src/sub/two.txt; cat /tmp/sub/two.txt',
    ),
  ).toBe('src/\nsrc/bytes\nsrc/link\ntwo\n')
  expect(
    await out('unzip -l /tmp/a.zip | grep -c txt; unzip -p /tmp/a.zip src/one.txt; gzip -t /tmp/a.tgz && echo fine'),
  ).toBe('3\none\nfine\n')
  expect(
    await out(
      'tar xf src/one.txt; echo $?; gunzip src/one.txt; echo $?; unzip src/one.txt; tar --frob; tar xf absent; echo $?',
    ),
  ).toMatch(/tar archive|Unexpected[\s\S]*\n2\ngzip: src\/one\.txt: [\s\S]*\n1\n/)
})

test('an archive that wants to write elsewhere, or to fill everything, gets nowhere', async () => {
  const { out, fs, write } = open()
  const entry = (name: string, more: object = {}) => ({
    name,
    kind: 'file' as const,
    mode: 0o644,
    mtimeMs: 0,
    bytes: new Uint8Array([120]),
    target: '',
    owner: OWN,
    ...more,
  })
  const evil = [
    entry('../escape'),
    entry('/etc/absolute'),
    entry('a/../../b'),
    entry('.git/hooks/pre-commit'),
    entry('out', { kind: 'symlink', target: '/etc' }),
    entry('up', { kind: 'symlink', target: '../..' }),
    entry('dir', { kind: 'symlink', target: '.' }),
    entry('dir/over-a-link'),
    entry('fine.txt'),
  ]
  await write('/workspace/evil.tar', tarOf(evil))
  const output = await out(
    'mkdir in; tar xf evil.tar -C in; echo $?; find / -newer evil.tar -type f -not -path "/dev/*" -not -path "/usr/*" -not -path "/bin/*"; ls -A in',
  )
  // Seven that are refused, and the line with which GNU's ends.
  expect(output.match(/^tar: /gm)).toHaveLength(8)
  expect(output).toMatch(/\n2\n/)
  expect(fs.list('/workspace/in').map(({ name }) => name)).toEqual(['dir', 'fine.txt'])
  expect(fs.list('/').map(({ name }) => name)).not.toContain('etc')
  await write('/workspace/bomb.gz', gzipSync(new Uint8Array(40_000_000)))
  expect(await out('gunzip -c bomb.gz | wc -c; zcat bomb.gz 2>&1 | head -c 100')).toMatch(
    /gzip: bomb\.gz: unpacks to more than[^\n]*\n0\n\ngzip: bomb\.gz/,
  )
  await write('/workspace/lies.tar', tarOf([entry('x')]).subarray(0, 512))
  expect(await out('tar xf lies.tar; echo $?')).toMatch(/Unexpected EOF in archive\n.*exiting now\n2\n/)
})

test('any set of entries survives the tar format', () => {
  const name = fc
    .array(fc.stringMatching(/^[a-z中é ]{1,40}$/), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join('/'))
  const file = fc.record({
    name,
    bytes: fc.uint8Array({ maxLength: 1500 }),
    mode: fc.constantFrom(0o644, 0o755),
    seconds: fc.nat(2_000_000_000),
  })
  fc.assert(
    fc.property(fc.array(file, { maxLength: 6 }), (files) => {
      const entries = files.map(({ name, bytes, mode, seconds }) => ({
        name,
        kind: 'file' as const,
        mode,
        mtimeMs: seconds * 1000,
        bytes,
        target: '',
        owner: OWN,
      }))
      expect([...readTar(tarOf(entries))]).toEqual(entries)
    }),
    { numRuns: 200 },
  )
})

/** The archive with these bytes in its first header, whose checksum is made right again. */
function withField(archive: Uint8Array, at: number, bytes: readonly number[]): Uint8Array {
  archive.set(bytes, at)
  archive.fill(32, 148, 156)
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  archive.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
  return archive
}

test('numbers that have no room in the header of a tar archive are read as GNU and POSIX write them', () => {
  const entry = {
    name: 'a',
    kind: 'file' as const,
    mode: 0o644,
    mtimeMs: 0,
    bytes: new Uint8Array(),
    target: '',
    owner: OWN,
  }
  const made = () => tarOf([entry])
  const timeOf = (archive: Uint8Array) => [...readTar(archive)].map((found) => 'mtimeMs' in found && found.mtimeMs)
  const seconds = (value: bigint) =>
    Array.from({ length: 11 }, (_, i) => Number((value >> BigInt(8 * (10 - i))) & 255n))
  // 1 January 1960 and 1 January 2500.
  expect(timeOf(withField(made(), 136, [0xff, ...seconds(-315_619_200n)]))).toEqual([-315_619_200_000])
  expect(timeOf(withField(made(), 136, [0x80, ...seconds(16_725_225_600n)]))).toEqual([16_725_225_600_000])
  const record = new TextEncoder().encode('30 mtime=-315619200.123456789\n')
  const extended = withField(tarOf([{ ...entry, name: 'x', bytes: record }]), 156, [0x78])
  expect(timeOf(new Uint8Array([...extended.subarray(0, 1024), ...made()]))).toEqual([-315_619_201_000])
  for (const size of [
    [0xff, ...seconds(-512n)],
    [0x2d, 0x31, 0],
  ]) {
    expect(() => [...readTar(withField(made(), 124, size))]).toThrow(RangeError)
  }
  expect(() => [...readTar(withField(made(), 124, [0x80, ...seconds(1n << 40n)]))]).toThrow('Unexpected EOF')
})

test('patch applies what diff made, back and forth, and refuses what does not fit or leads elsewhere', async () => {
  const { out, read } = open()
  await out(
    'mkdir -p a b; printf "1\\n2\\n3\\n4\\n" > a/f; printf "1\\ntwo\\n3\\n4\\n5\\n" > b/f; diff -u a/f b/f > p; cp a/f f',
  )
  expect(await out('patch -p1 < p; diff f b/f && echo same; patch -R -p1 -i p; diff f a/f && echo back')).toBe(
    'patching file f\nsame\npatching file f\nback\n',
  )
  expect(await out('echo other > f; patch f p; echo $?; cat f; patch --dry-run a/f < p; cat a/f | head -2')).toBe(
    'patching file f\nHunk #1 FAILED at 1.\n1 out of 1 hunk FAILED -- saving rejects to file f.rej\n1\nother\nchecking file a/f\n1\n2\n',
  )
  await out("printf -- '--- /dev/null\\n+++ b/new/file\\n@@ -0,0 +1 @@\\n+hello\\n' | patch -p1")
  expect(await read('/workspace/new/file')).toBe('hello\n')
  expect(
    await out(
      "printf -- '--- a/../../x\\n+++ b/../../x\\n@@ -0,0 +1 @@\\n+evil\\n' | patch -p1; echo $?; echo nonsense | patch; echo $?",
    ),
  ).toMatch(/dangerous file name[\s\S]*\n1\n[\s\S]*garbage[\s\S]*\n2\n$/)
})

test('patch names a file that its owner may not write before it tries, whoever else may do what with it', async () => {
  const { out } = open()
  const patched = (mode: string) =>
    out(`printf 'x=1\\n' > c; sed s/1/2/ c > d; diff -u c d > p; chmod ${mode} c; patch c p; chmod 644 c; cat c`)
  const warning = 'File c is read-only; trying to patch anyway\n'
  for (const mode of ['444', '555', '577']) {
    expect(await patched(mode)).toBe(`${warning}patching file c\nx=2\n`)
  }
  expect(await patched('755')).toBe('patching file c\nx=2\n')
})
