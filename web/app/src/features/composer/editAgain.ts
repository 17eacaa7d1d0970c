/** Puts the text of a refused message back into the composer. */
import type { OutgoingMessage } from '@majlis/client'

type Listener = (message: OutgoingMessage) => void
const composers = new Map<string, Listener>()

export function editAgain(spaceId: string, message: OutgoingMessage): void {
  composers.get(spaceId)?.(message)
}

/** The composer of a space. Returns a function that ends the subscription. */
export function onEditAgain(spaceId: string, listener: Listener): () => void {
  composers.set(spaceId, listener)
  return () => void composers.delete(spaceId)
}
