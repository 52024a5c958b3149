// The public interface of the kit for the names of listings.

// Suggestions for a text that is incomplete or no exact name.
export { candidates } from './candidates.ts'
// One listing, with the spelling and comparison of its name.
export { fold, isHan } from './fold.ts'
export { initialsOf, joinedPinyin, type Listing, type ListingKind } from './listing.ts'
// The index of all names: the packaged list and later changes. A store of the changes implements `NameStore`.
export type { NameIndex } from './name-index.ts'
export { packagedNames } from './packaged.ts'
export { MATCHES, type Suggestion, suggest } from './search.ts'
export { spellerFrom } from './speller.ts'
export { currentNames, forgetNames, type NameStore } from './store.ts'
