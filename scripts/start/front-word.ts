/** The header with the secret that the proxy and the Worker share for this start. */
export const FRONT_HEADER = 'x-bellwether-front'

/** Marks a request of the proxy itself: it asks for the owner of the credential. */
export const OWNER_HEADER = 'x-bellwether-owner'

export type FrontEnv = { readonly FRONT_WORD: string }
