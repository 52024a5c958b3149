/** As in package.json; a test compares both. */
export const VERSION = '0.1.0'
