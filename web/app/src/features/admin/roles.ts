import type { Entity } from '@majlis/client'

import { msg } from '../../language/words.ts'

export const ROLES: Record<Entity['role'], string> = { member: msg('Member'), admin: msg('Administrator'), owner: msg('Owner') }
