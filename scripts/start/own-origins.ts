import { hostname, networkInterfaces } from 'node:os'
import { hostPortOf } from '../../src/lib/ip-address.ts'
import { HOST } from './port.ts'

type Variables = Readonly<Record<string, string>>

/**
 * The variables, with every address of this machine at the service's port among `OWN_ORIGINS`: behind none of them is
 * anything that an agent or a setting may ask.
 */
export function withOwnOrigins(vars: Variables, port: number): Variables {
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const hosts = addresses.map(({ address, family }) =>
    family === 'IPv6' ? `[${address.replace(/%.*$/, '')}]` : address,
  )
  const all = [HOST, ...hosts, hostname().toLowerCase()].map((host) => `${host}:${port}`)
  // A machine may have a name that cannot stand in an address.
  const own = all.filter((entry) => hostPortOf(entry) !== null)
  const given = vars.OWN_ORIGINS ?? ''
  return { ...vars, OWN_ORIGINS: [...new Set(given === '' ? own : [given, ...own])].join(',') }
}
