// The face of the kit that knows what listings are called.

// What somebody may mean who is still typing, or has typed what is no name.
export { candidates } from './candidates.ts'
// One listing, and how its name is spelled and compared.
export { fold, isHan } from './fold.ts'
export { initialsOf, joinedPinyin, type Listing, type ListingKind } from './listing.ts'
// The index of all names: the packaged list and later changes. A store of the changes implements `NameStore`.
export type { NameIndex } from './name-index.ts'
export { packagedNames } from './packaged.ts'
export { MATCHES, type Suggestion, suggest } from './search.ts'
export { spellerFrom } from './speller.ts'
export { currentNames, forgetNames, type NameStore } from './store.ts'
