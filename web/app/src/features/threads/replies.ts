/** Replies among messages, oldest first. A reply has a higher number than its parent. */
import type { Message } from '@majlis/client'

/** How many messages reply directly to each message. */
export function countReplies(messages: readonly Message[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { replyTo, kind } of messages) if (replyTo !== null && kind !== 'notice') counts.set(replyTo, (counts.get(replyTo) ?? 0) + 1)
  return counts
}

/** The messages that reply to this one, directly or to one of its replies. */
export function branchOf(id: string, messages: readonly Message[]): Message[] {
  const inside = new Set([id])
  return messages.filter((message) => {
    if (message.replyTo === null || message.kind === 'notice' || !inside.has(message.replyTo)) return false
    inside.add(message.id)
    return true
  })
}
