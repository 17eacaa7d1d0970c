/** Passes a message from its menu to the composer, which edits it. */
import type { Message } from '@majlis/client'

const composers = new Map<string, (message: Message) => void>()

export function editMessage(message: Message): void {
  composers.get(message.spaceId)?.(message)
}

export function onEditMessage(spaceId: string, edit: (message: Message) => void): () => void {
  composers.set(spaceId, edit)
  return () => {
    if (composers.get(spaceId) === edit) composers.delete(spaceId)
  }
}
