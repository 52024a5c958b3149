// The sandbox's way to the network: an HTTP proxy on a socket file, one for each conversation. It resolves a name
// itself and connects to the checked address, so that the name cannot change in between. Refusals are immediate and
// contain the reason.

import { lookup as systemLookup } from 'node:dns/promises'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Log, messageOf } from '../log.ts'
import { Folder } from '../sync/folder.ts'
import { isPublicAddress, type Permission, permissionFor } from './allow-list.ts'

export type ProxyDeps = {
  readonly allow: readonly string[]
  readonly log: Log
  /** Called for a host that is not on the list: whether the service permits it. */
  readonly mayReach?: (wanted: { host: string; port: number }) => Promise<boolean>
  readonly lookup?: (host: string) => Promise<readonly { address: string }[]>
}

const MAX_CONNECTIONS = 128
const CONNECT_MS = 20_000
/** Only between a client and its proxy. */
const HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]

class Refused extends Error {}

export class HostProxy {
  readonly #server: Server
  readonly #deps: ProxyDeps
  readonly #open = new Set<Duplex>()

  private constructor(deps: ProxyDeps) {
    this.#deps = deps
    this.#server = createServer((incoming, response) => {
      this.#forward(incoming, response).catch((error) =>
        this.#refuse(incoming, error, (text) => response.writeHead(statusOf(error), TEXT).end(text)),
      )
    })
    this.#server.maxConnections = MAX_CONNECTIONS
    this.#server.on('connect', (incoming, socket, head) => {
      this.#tunnel(incoming, socket, head).catch((error) =>
        this.#refuse(incoming, error, (text) =>
          socket.end(
            `HTTP/1.1 ${statusOf(error)} ${reasonLine(text)}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
          ),
        ),
      )
    })
    this.#server.on('connection', (socket) => this.#keep(socket))
  }

  /** The folder is open as long as the server is: a socket's path may have only 107 characters, and this one is short. */
  static async listen(folderPath: string, name: string, deps: ProxyDeps): Promise<HostProxy> {
    const proxy = new HostProxy(deps)
    const folder = Folder.root(folderPath)
    proxy.#server.on('close', () => folder.close())
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject)
      proxy.#server.listen(folder.at(name), resolve)
    })
    return proxy
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  async #tunnel(incoming: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    const { host, port } = targetOf(`http://${incoming.url}`, 443)
    const upstream = await this.#connected(host, port)
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    upstream.write(head)
    upstream.on('error', () => client.destroy())
    // Data that is still being sent to a slow reader is delivered.
    upstream.on('close', (isBroken) => (isBroken ? client.destroy() : client.end(() => client.destroy())))
    client.on('close', () => upstream.destroy())
    upstream.pipe(client)
    client.pipe(upstream)
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!incoming.url?.startsWith('http://'))
      throw new Refused('this proxy takes whole addresses that begin with http://')
    const url = new URL(incoming.url)
    const { host, port } = targetOf(incoming.url, 80)
    const socket = await this.#connected(host, port)
    const headers: OutgoingHttpHeaders = { ...incoming.headers, host: url.host, connection: 'close' }
    for (const name of HOP_HEADERS) if (name !== 'connection') delete headers[name]
    const outgoing = request({
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      headers,
      createConnection: () => socket,
    })
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', (error) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502, TEXT).end(`${error.message}\n`)
    })
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }

  async #connected(host: string, port: number): Promise<Socket> {
    const permission = permissionFor(this.#deps.allow, host, port) ?? (await this.#vouchedFor(host, port))
    if (permission === null) throw new Refused(`${host}:${port} is not on the runner's list of hosts`)
    const found = isIP(host) === 0 ? await this.#look(host) : [{ address: host }]
    const address = found.map((one) => one.address).find((one) => permission.mayBePrivate || isPublicAddress(one))
    if (address === undefined)
      throw new Refused(
        `${host} leads into a private network: --allow ${port === 80 || port === 443 ? host : `${host}:${port}`} of the runner lets it through`,
      )
    const socket = connect({ host: address, port, timeout: CONNECT_MS })
    this.#keep(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
      socket.once('timeout', () => reject(new Error('no connection in time')))
    })
    socket.setTimeout(0)
    return socket
  }

  /** Hosts permitted by the service must be public: only the operator can open the private network. */
  async #vouchedFor(host: string, port: number): Promise<Permission | null> {
    const isVouchedFor = (await this.#deps.mayReach?.({ host, port })) ?? false
    return isVouchedFor ? { mayBePrivate: false } : null
  }

  #look(host: string): Promise<readonly { address: string }[]> {
    return this.#deps.lookup?.(host) ?? systemLookup(host, { all: true })
  }

  #refuse(incoming: IncomingMessage, error: unknown, answer: (text: string) => void): void {
    if (error instanceof Refused) this.#deps.log('network.refused', { to: (incoming.url ?? '').slice(0, 200) })
    answer(`${messageOf(error)}\n`)
  }

  #keep(socket: Duplex): void {
    this.#open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#open.delete(socket))
  }
}

const TEXT = { 'content-type': 'text/plain', connection: 'close' }

/** Also in the status line: most programs show nothing else of an answer to CONNECT. */
const reasonLine = (text: string): string =>
  text
    .replaceAll(/[^ -~]+/g, ' ')
    .trim()
    .slice(0, 200) || 'Refused'

function statusOf(error: unknown): number {
  return error instanceof Refused ? 403 : 502
}

function targetOf(text: string, defaultPort: number): { host: string; port: number } {
  if (!URL.canParse(text)) throw new Refused('no address')
  const { hostname, port } = new URL(text)
  // The parser removes the default port of http.
  const isEighty = port === '' && /:80$/.test(text.replace(/^http:\/\//, '').replace(/\/.*$/, ''))
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isEighty ? 80 : defaultPort) : Number(port),
  }
}
