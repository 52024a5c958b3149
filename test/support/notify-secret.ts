/** What the tests sign with. */
export const SECRET = 'SEC-of-the-tests'
