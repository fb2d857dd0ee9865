/* Anderson & Moir, "Using local-spin k-exclusion algorithms to improve
 * wait-free object implementations", Figure 3 nested as in Theorem 1:
 * (N,K)-exclusion by levels j = N-1 (outermost) .. K (innermost).
 * Usage: spin -a -DN=4 -DK=2 fig3_safety.pml       (1 <= K < N <= 9)
 *
 * Control locations of a process, exactly 2+6*(N-K):
 *   0 ; 2,3,4,5 per level ; 6 ; 7,8 per level.
 * Every line is one transition with one shared access.  Line 5 blocks
 * while Q = p (no self loop).  x_j holds X[j]+1, so that X = -1..j fits an
 * unsigned byte.  incs = number of processes at 6 (a function of the
 * control locations, hence it adds no states).
 */
#ifndef N
#define N 4
#endif
#ifndef K
#define K 2
#endif

#define VARS(j)    byte x_##j = j+1; byte q_##j = 0;

#define ENTRY(j,in) \
	if \
	:: d_step { x_##j == 1 -> x_##j = x_##j - 1 };		/* 2 */ \
	   q_##j = _pid;					/* 3 */ \
	   if							/* 4 */ \
	   :: x_##j < 1 -> d_step { q_##j != _pid in }		/* 5 */ \
	   :: d_step { x_##j >= 1 in } \
	   fi \
	:: d_step { x_##j != 1 -> x_##j = x_##j - 1 in }	/* 2 */ \
	fi;

#define EXIT(j) \
	x_##j = x_##j + 1;					/* 7 */ \
	q_##j = _pid;						/* 8 */

#define INCS	-> incs = incs + 1; assert(incs <= K)
#define NONE

byte incs = 0;
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

active [N] proctype P()
{
	do
	:: skip;						/* 0 */
#if K < 8 && 8 < N
	ENTRY(8,NONE)
#elif K == 8
	ENTRY(8,INCS)
#endif
#if K < 7 && 7 < N
	ENTRY(7,NONE)
#elif K == 7
	ENTRY(7,INCS)
#endif
#if K < 6 && 6 < N
	ENTRY(6,NONE)
#elif K == 6
	ENTRY(6,INCS)
#endif
#if K < 5 && 5 < N
	ENTRY(5,NONE)
#elif K == 5
	ENTRY(5,INCS)
#endif
#if K < 4 && 4 < N
	ENTRY(4,NONE)
#elif K == 4
	ENTRY(4,INCS)
#endif
#if K < 3 && 3 < N
	ENTRY(3,NONE)
#elif K == 3
	ENTRY(3,INCS)
#endif
#if K < 2 && 2 < N
	ENTRY(2,NONE)
#elif K == 2
	ENTRY(2,INCS)
#endif
#if K == 1
	ENTRY(1,INCS)
#endif
	   incs = incs - 1;					/* 6 */
#if K <= 1 && 1 < N
	EXIT(1)
#endif
#if K <= 2 && 2 < N
	EXIT(2)
#endif
#if K <= 3 && 3 < N
	EXIT(3)
#endif
#if K <= 4 && 4 < N
	EXIT(4)
#endif
#if K <= 5 && 5 < N
	EXIT(5)
#endif
#if K <= 6 && 6 < N
	EXIT(6)
#endif
#if K <= 7 && 7 < N
	EXIT(7)
#endif
#if K <= 8 && 8 < N
	EXIT(8)
#endif
	od
}
