/** Drafts, stored per person and space: the next person at the same browser does not see them. */
import { loadItem, removeItem, saveItem } from '../../ui/storage.ts'

const key = (me: string, spaceId: string) => `majlis.draft.${me}.${spaceId}`

export const draftOf = (me: string, spaceId: string): string => loadItem(key(me, spaceId)) ?? ''

export function saveDraft(me: string, spaceId: string, text: string): void {
  if (text) saveItem(key(me, spaceId), text)
  else removeItem(key(me, spaceId))
}
