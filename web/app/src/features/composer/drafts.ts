/** What is being written, for each person and space, until it is sent: somebody else at the same browser begins with nothing. */
import { forget, keep, kept } from '../../ui/storage.ts'

const key = (me: string, spaceId: string) => `majlis.draft.${me}.${spaceId}`

export const draftOf = (me: string, spaceId: string): string => kept(key(me, spaceId)) ?? ''

export function keepDraft(me: string, spaceId: string, text: string): void {
  if (text) keep(key(me, spaceId), text)
  else forget(key(me, spaceId))
}
