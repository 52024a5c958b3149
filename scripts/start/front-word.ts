/** Carries the word that the front and the Worker agreed on at this start. */
export const FRONT_HEADER = 'x-bellwether-front'

/** On a question of the front's own: whose the credential beside it is. */
export const OWNER_HEADER = 'x-bellwether-owner'

export type FrontEnv = { readonly FRONT_WORD: string }
