/* Anderson & Moir, Figure 3 nested as in Theorem 1, with halting failures,
 * and starvation freedom of process 0 as a never claim (weak fairness, -f).
 * Usage: spin -a -DN=4 -DK=2 -DF=1 fig3_starvation.pml    (1 <= K < N <= 9)
 *        gcc -O3 -DMEMLIM=... -o pan pan.c ; ./pan -a -f -m...
 * Options: -DP0CRASH  process 0 may fail too (by default it does not fail,
 *                     because the property is about nonfaulty processes)
 *          -DSELF5    line 5 is a busy-wait self loop, not a blocked guard
 *          -DUSELTL   property as an ltl formula, not a handwritten claim
 *
 * - Up to F processes may, at any location but 0, step to `end_dead' where
 *   they stay forever (one dead location per process: where it died is
 *   visible only through X and Q).  ncr = number of dead processes.
 * - Location 0 has a self loop, so weak fairness never forces a process out
 *   of its remainder section.  No other location has a self loop, so a live
 *   process at another location that can move must move, also in the
 *   critical section.  (The guard of the self loop is `_pid == 0' in process
 *   0 and `_pid != 0' in the others, so it is always true.  pan rejects a
 *   self loop with the guard `skip': "unconditional self-loop".)
 * - p0e = "process 0 is at one of its lines 2..5"; it and ncr are functions
 *   of the control locations and add no states.
 */
#ifndef N
#define N 4
#endif
#ifndef K
#define K 2
#endif
#ifndef F
#define F 1
#endif

#define VARS(j)    byte x_##j = j+1; byte q_##j = 0;	/* x_j = X[j]+1 */

#if F > 0
#define CR	:: d_step { ncr < F -> ncr = ncr + 1 } ; goto end_dead
#else
#define CR
#endif
#if F > 0 && defined(P0CRASH)
#define CR0E	:: d_step { ncr < F -> ncr = ncr + 1 ; p0e = 0 } ; goto end_dead
#define CR0	:: d_step { ncr < F -> ncr = ncr + 1 } ; goto end_dead
#else
#define CR0E
#define CR0
#endif
#ifdef SELF5
#define SPIN5(j)	:: q_##j == _pid
#else
#define SPIN5(j)
#endif

/* in: what is appended to the step that leaves the level; cr: failure option */
#define ENTRY(j,in,cr) \
	if \
	:: d_step { x_##j == 1 -> x_##j = x_##j - 1 };		/* 2 */ \
	   if :: q_##j = _pid cr fi;				/* 3 */ \
	   if							/* 4 */ \
	   :: x_##j < 1 -> \
	      do						/* 5 */ \
	      :: d_step { q_##j != _pid in } -> break \
	      SPIN5(j) \
	      cr \
	      od \
	   :: d_step { x_##j >= 1 in } \
	   cr \
	   fi \
	:: d_step { x_##j != 1 -> x_##j = x_##j - 1 in }	/* 2 */ \
	cr \
	fi;

#define EXIT(j,cr) \
	if :: x_##j = x_##j + 1 cr fi;				/* 7 */ \
	if :: q_##j = _pid cr fi;				/* 8 */

#define INCS	-> p0e = 0
#define NONE

byte ncr = 0;
bit p0e = 0;
#if K <= 8 && 8 < N
VARS(8)
#endif
#if K <= 7 && 7 < N
VARS(7)
#endif
#if K <= 6 && 6 < N
VARS(6)
#endif
#if K <= 5 && 5 < N
VARS(5)
#endif
#if K <= 4 && 4 < N
VARS(4)
#endif
#if K <= 3 && 3 < N
VARS(3)
#endif
#if K <= 2 && 2 < N
VARS(2)
#endif
#if K <= 1 && 1 < N
VARS(1)
#endif

active proctype P0()			/* process 0 */
{
	do
	:: _pid == 0						/* 0: stay */
	:: p0e = 1;						/* 0 */
#if K < 8 && 8 < N
	ENTRY(8,NONE,CR0E)
#elif K == 8
	ENTRY(8,INCS,CR0E)
#endif
#if K < 7 && 7 < N
	ENTRY(7,NONE,CR0E)
#elif K == 7
	ENTRY(7,INCS,CR0E)
#endif
#if K < 6 && 6 < N
	ENTRY(6,NONE,CR0E)
#elif K == 6
	ENTRY(6,INCS,CR0E)
#endif
#if K < 5 && 5 < N
	ENTRY(5,NONE,CR0E)
#elif K == 5
	ENTRY(5,INCS,CR0E)
#endif
#if K < 4 && 4 < N
	ENTRY(4,NONE,CR0E)
#elif K == 4
	ENTRY(4,INCS,CR0E)
#endif
#if K < 3 && 3 < N
	ENTRY(3,NONE,CR0E)
#elif K == 3
	ENTRY(3,INCS,CR0E)
#endif
#if K < 2 && 2 < N
	ENTRY(2,NONE,CR0E)
#elif K == 2
	ENTRY(2,INCS,CR0E)
#endif
#if K < 1 && 1 < N
	ENTRY(1,NONE,CR0E)
#elif K == 1
	ENTRY(1,INCS,CR0E)
#endif
	   if :: skip CR0 fi;				/* 6 */
#if K <= 1 && 1 < N
	EXIT(1,CR0)
#endif
#if K <= 2 && 2 < N
	EXIT(2,CR0)
#endif
#if K <= 3 && 3 < N
	EXIT(3,CR0)
#endif
#if K <= 4 && 4 < N
	EXIT(4,CR0)
#endif
#if K <= 5 && 5 < N
	EXIT(5,CR0)
#endif
#if K <= 6 && 6 < N
	EXIT(6,CR0)
#endif
#if K <= 7 && 7 < N
	EXIT(7,CR0)
#endif
#if K <= 8 && 8 < N
	EXIT(8,CR0)
#endif
	od;
#if F > 0 && defined(P0CRASH)
end_dead: false
#endif
}

active [N-1] proctype P()			/* processes 1..N-1 */
{
	do
	:: _pid != 0						/* 0: stay */
	:: skip;						/* 0 */
#if K < 8 && 8 < N
	ENTRY(8,NONE,CR)
#elif K == 8
	ENTRY(8,NONE,CR)
#endif
#if K < 7 && 7 < N
	ENTRY(7,NONE,CR)
#elif K == 7
	ENTRY(7,NONE,CR)
#endif
#if K < 6 && 6 < N
	ENTRY(6,NONE,CR)
#elif K == 6
	ENTRY(6,NONE,CR)
#endif
#if K < 5 && 5 < N
	ENTRY(5,NONE,CR)
#elif K == 5
	ENTRY(5,NONE,CR)
#endif
#if K < 4 && 4 < N
	ENTRY(4,NONE,CR)
#elif K == 4
	ENTRY(4,NONE,CR)
#endif
#if K < 3 && 3 < N
	ENTRY(3,NONE,CR)
#elif K == 3
	ENTRY(3,NONE,CR)
#endif
#if K < 2 && 2 < N
	ENTRY(2,NONE,CR)
#elif K == 2
	ENTRY(2,NONE,CR)
#endif
#if K < 1 && 1 < N
	ENTRY(1,NONE,CR)
#elif K == 1
	ENTRY(1,NONE,CR)
#endif
	   if :: skip CR fi;				/* 6 */
#if K <= 1 && 1 < N
	EXIT(1,CR)
#endif
#if K <= 2 && 2 < N
	EXIT(2,CR)
#endif
#if K <= 3 && 3 < N
	EXIT(3,CR)
#endif
#if K <= 4 && 4 < N
	EXIT(4,CR)
#endif
#if K <= 5 && 5 < N
	EXIT(5,CR)
#endif
#if K <= 6 && 6 < N
	EXIT(6,CR)
#endif
#if K <= 7 && 7 < N
	EXIT(7,CR)
#endif
#if K <= 8 && 8 < N
	EXIT(8,CR)
#endif
	od;
#if F > 0
end_dead: false
#endif
}

#ifdef USELTL
ltl starvation_free { [] (p0e -> <> !p0e) }
#else
never {		/* ! [] (p0e -> <> !p0e), that is <> [] p0e */
T0:	if
	:: true -> goto T0
	:: p0e -> goto accept
	fi;
accept:	if
	:: p0e -> goto accept
	fi
}
#endif
