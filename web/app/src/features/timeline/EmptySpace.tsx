import type { SpaceState } from '@majlis/client'
import { useMe } from '@majlis/client/react'

import { inspect } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'

export function EmptySpace({ space }: { space: SpaceState }) {
  const me = useMe()
  const others = space.members.filter((member) => member.id !== me?.id)
  return (
    <div className="grid min-h-0 flex-1 place-items-center p-6 text-center">
      <div className="max-w-sm space-y-3">
        <h2 className="text-title">No messages yet</h2>
        <p className="text-ink-soft">
          {others.length > 0
            ? `Only ${listed(['you', ...others.map((member) => member.name)])} can read messages here.`
            : 'You’re the only member. Add people and agents to start a conversation.'}
        </p>
        {others.length === 0 && <Button onClick={() => inspect({ kind: 'members' })}>Add members</Button>}
      </div>
    </div>
  )
}

const listed = (names: string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : new Intl.ListFormat('en').format(names)
