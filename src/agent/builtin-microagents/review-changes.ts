export const REVIEW_CHANGES = `---
name: review-changes
version: 1.0.0
inputs:
  - name: scope
    description: What to review - the uncommitted changes, a branch, or certain files
---
Review the given scope as a careful colleague would. Change nothing.

1. Find out what the change is for, from the user's words, the commit messages and the code around it.
2. Read every changed line, and enough of what calls it to know what it does there.
3. Look for, in this order: wrong results, lost or leaked data, broken promises to callers, missing handling of bad
   input, missing tests, needless complexity, names and comments that mislead.
4. Report what you found, the worst first: the file and line, what happens in which case, and what to do about it. Say
   what you did not check. If nothing is wrong, say only that.
`
