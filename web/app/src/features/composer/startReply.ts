/** Passes a message to the composer of its space, which replies to it. */
import type { Message } from '@majlis/client'

const composers = new Map<string, (message: Message) => void>()

export function startReply(message: Message): void {
  composers.get(message.spaceId)?.(message)
}

export function onStartReply(spaceId: string, reply: (message: Message) => void): () => void {
  composers.set(spaceId, reply)
  return () => {
    if (composers.get(spaceId) === reply) composers.delete(spaceId)
  }
}
