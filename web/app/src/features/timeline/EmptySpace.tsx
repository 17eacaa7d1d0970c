import type { SpaceState } from '@majlis/client'
import { useMe } from '@majlis/client/react'

import { listed, t } from '../../language/words.ts'
import { inspect } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'

export function EmptySpace({ space }: { space: SpaceState }) {
  const me = useMe()
  const others = space.members.filter((member) => member.id !== me?.id)
  return (
    <div className="grid min-h-0 flex-1 place-items-center p-6 text-center">
      <div className="max-w-sm space-y-3">
        <h2 className="text-title">{t('No messages yet')}</h2>
        <p className="text-ink-soft">
          {others.length > 0
            ? t('Only {names} can read messages here.', { names: someOf([t('you'), ...others.map((member) => member.name)]) })
            : t('You’re the only member. Add people and agents to start a conversation.')}
        </p>
        {others.length === 0 && <Button onClick={() => inspect({ kind: 'members' })}>{t('Add members')}</Button>}
      </div>
    </div>
  )
}

const someOf = (names: readonly string[]): string =>
  names.length > 3 ? t('{names} and {n} more', { names: names.slice(0, 3).join(t(', ')), n: names.length - 3 }) : listed(names)
