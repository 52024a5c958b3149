// Who chose an address decides where it may lead. A person and the operator choose an origin, never more: whatever else is
// asked on the way there (a redirect, an address that a server names, another remote) is a stranger's choice.

export type Chooser =
  /** A model, a file, a page, a repository, an upstream: never loopback or a private network unless the operator names it. */
  | { readonly by: 'stranger' }
  /** Typed into the settings or a request: loopback too where the policy says so, but never the service itself. */
  | { readonly by: 'person'; readonly origins: ReadonlySet<string> }
  /** From the operator's environment: not doubted. */
  | { readonly by: 'operator'; readonly origins: ReadonlySet<string> }

export const STRANGER: Chooser = { by: 'stranger' }

export function typedByPerson(...addresses: readonly string[]): Chooser {
  return { by: 'person', origins: originsOf(addresses) }
}

export function namedByOperator(...addresses: readonly string[]): Chooser {
  return { by: 'operator', origins: originsOf(addresses) }
}

/** Whose choice this address is, when somebody chose to go there or somewhere else. */
export function whoseChoice({ origin }: URL, chooser: Chooser): Chooser['by'] {
  return chooser.by !== 'stranger' && chooser.origins.has(origin) ? chooser.by : 'stranger'
}

/** What is no address has no origin, and an opaque one (`null`) would be that of many. */
function originsOf(addresses: readonly string[]): ReadonlySet<string> {
  const urls = addresses.flatMap((address) => (URL.canParse(address) ? [new URL(address)] : []))
  return new Set(urls.filter(({ protocol }) => /^https?:$/.test(protocol)).map(({ origin }) => origin))
}
