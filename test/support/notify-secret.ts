/** The tests' signing secret. */
export const SECRET = 'SEC-of-the-tests'
