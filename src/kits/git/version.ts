/** The version of git that is emulated, for mails and `git version`. */
export const GIT_VERSION = '2.40.0'
