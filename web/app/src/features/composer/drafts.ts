/** What is being written, for each space, until it is sent. */

const key = (spaceId: string) => `majlis.draft.${spaceId}`

export const draftOf = (spaceId: string): string => localStorage.getItem(key(spaceId)) ?? ''

export function keepDraft(spaceId: string, text: string): void {
  if (text) localStorage.setItem(key(spaceId), text)
  else localStorage.removeItem(key(spaceId))
}
