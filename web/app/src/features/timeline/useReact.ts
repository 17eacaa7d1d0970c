import type { Message } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { toast } from '../../ui/toast.tsx'

export function useReact(message: Message): (emoji: string) => void {
  const { client } = useStore()
  return (emoji) => void client.messages.react(message.id, emoji).catch((error: Error) => toast(error.message))
}
