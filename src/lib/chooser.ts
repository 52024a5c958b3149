// Who chose an address decides where it may lead. A person or the operator chooses only an origin: every other address on
// the way (a redirect, an address that a server names, another remote) counts as chosen by a stranger.

export type Chooser =
  /** A model, a file, a page, a repository, an upstream: never loopback or a private network unless the operator names it. */
  | { readonly by: 'stranger' }
  /** Typed into the settings or a request: loopback too where the policy says so, but never the service itself. */
  | { readonly by: 'person'; readonly origins: ReadonlySet<string> }
  /** From the operator's environment: trusted. */
  | { readonly by: 'operator'; readonly origins: ReadonlySet<string> }

export const STRANGER: Chooser = { by: 'stranger' }

export function typedByPerson(...addresses: readonly string[]): Chooser {
  return { by: 'person', origins: originsOf(addresses) }
}

export function namedByOperator(...addresses: readonly string[]): Chooser {
  return { by: 'operator', origins: originsOf(addresses) }
}

/** The chooser that counts for this address, when a person or the operator chose an origin. */
export function whoseChoice({ origin }: URL, chooser: Chooser): Chooser['by'] {
  return chooser.by !== 'stranger' && chooser.origins.has(origin) ? chooser.by : 'stranger'
}

/** An invalid address has no origin; an opaque origin (`null`) would match many. */
function originsOf(addresses: readonly string[]): ReadonlySet<string> {
  const urls = addresses.flatMap((address) => (URL.canParse(address) ? [new URL(address)] : []))
  return new Set(urls.filter(({ protocol }) => /^https?:$/.test(protocol)).map(({ origin }) => origin))
}
