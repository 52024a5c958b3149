// A service that listens on port 8787 of loopback and of the machine's own addresses, under a public name too, and the
// ways to ask for it.

import { type HostPort, hostPortOf } from '../../../src/lib/ip-address.ts'
import { type Octets, spellings } from './address-corpus.ts'

const PORT = '8787'
const LISTED = [
  '127.0.0.1:8787',
  '192.168.7.20:8787',
  '203.0.114.9:8787',
  '[fd12:3456::20]:8787',
  '[2a01:4f8:1:2::9]:8787',
  'workstation:8787',
  'bellwether.example.com',
]
export const OWN_ORIGINS: readonly HostPort[] = LISTED.flatMap((entry) => hostPortOf(entry) ?? [])

/** Loopback in four places, "this host", and the machine's own two addresses. */
const ADDRESSES: readonly Octets[] = [
  [127, 0, 0, 1],
  [127, 0, 0, 2],
  [127, 1, 2, 3],
  [127, 255, 255, 254],
  [0, 0, 0, 0],
  [192, 168, 7, 20],
  [203, 0, 114, 9],
]

const NAMES = [
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'localhost.',
  'localhost..',
  'foo.localhost',
  'a.b.c.localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'ip6-loopback',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'ｌｏｃａｌｈｏｓｔ',
  'local\u00adhost',
  'loc%61lhost',
  '%6c%6f%63%61%6c%68%6f%73%74',
  'user@localhost',
  'user:pass@localhost',
  'example.com@localhost',
  'localtest.me',
  'anything.localtest.me',
  'lvh.me',
  'app.lvh.me',
  'vcap.me',
  'a.lacolhost.com',
  'localh.st',
  'fuf.me',
  'workstation',
  'WORKSTATION',
  'workstation.',
  'work%73tation',
  'ｗｏｒｋｓｔａｔｉｏｎ',
  'user@workstation',
  'bellwether.example.com',
  'Bellwether.Example.COM',
  'bellwether.example.com.',
  'bell%77ether.example.com',
  'bellwether。example。com',
  'ｂｅｌｌwether.example.com',
  'user@bellwether.example.com',
  'evil.example@bellwether.example.com',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  '[0::1]',
  '[::1%25lo]',
  '[::1%lo]',
  '[::]',
  '[0:0:0:0:0:0:0:0]',
  '[fd12:3456::20]',
  '[FD12:3456::20]',
  '[fd12:3456:0:0:0:0:0:20]',
  '[fd12:3456::0.0.0.32]',
  '[fd12:3456::0020]',
  '[2a01:4f8:1:2::9]',
  '[2A01:4F8:1:2::9]',
  '[2a01:04f8:0001:0002::0009]',
  '[2a01:4f8:1:2:0:0:0:9]',
]

const hosts = [...ADDRESSES.flatMap(spellings), ...NAMES]

export const OWN: readonly string[] = [
  ...new Set([
    ...hosts.map((host) => `http://${host}:${PORT}/api/settings`),
    ...hosts.slice(0, 60).map((host) => `https://${host}:${PORT}/api/settings?x=1#y`),
    ...[`http:\\\\127.0.0.1:${PORT}/`, `http:/127.0.0.1:${PORT}/`, `http:127.0.0.1:${PORT}/`],
    ...[`http:///127.0.0.1:${PORT}/`, `\thttp://127.0.0.1:${PORT}/`, ` http://localhost:${PORT}/ `],
    ...[`http://127.0.0.1:0${PORT}/`, `http://127.0.0.1:0000${PORT}/`, `http://localhost:８７８７/`],
    ...[`http://local\nhost:${PORT}/`, `http://127.0.0.1\t:${PORT}/`, `h\nttp://127.0.0.1:${PORT}/`],
    ...[`http://example.com\\@127.0.0.1:${PORT}/`, `http://127.0.0.1:${PORT}\\@example.com/`],
    ...[`http://127.0.0.1:${PORT}#@example.com/`, `http://127.0.0.1:${PORT}?@example.com/`],
    ...[`ws://127.0.0.1:${PORT}/`, `WS://localhost:${PORT}/socket.io/`, `ftp://127.0.0.1:${PORT}/`],
    // Listed without a port: its own on every one.
    ...['http://bellwether.example.com/', 'https://bellwether.example.com/', 'https://bellwether.example.com:8443/'],
  ]),
]

/** What is not the service although it looks like it: other ports of the same machine, and other names. */
export const OTHERS: readonly string[] = [
  ...['http://127.0.0.1:3000/', 'http://localhost:11434/v1', 'http://[::1]:1234/'],
  ...['http://127.0.0.1:8788/', 'http://localhost:87/', 'http://127.0.0.1:18787/'],
  ...['http://192.168.7.20:3000/', 'http://192.168.7.21:8787/', 'http://[fd12:3456::21]:8787/'],
  ...['http://workstation:80/', 'http://workstation2:8787/', 'https://bellwether.example.org/'],
  ...['https://api.example.com:8787/', 'https://not-bellwether.example.com/', 'http://10.0.0.1:8787/'],
]
